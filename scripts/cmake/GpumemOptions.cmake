# Compile options of every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)  # a change inside the library does not relink programs

# ccache accepts precompiled headers only with sloppiness.
set(GPUMEM_PRECOMPILE ON)
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache)
  set(GPUMEM_PRECOMPILE OFF)
endif()

set(GPUMEM_SANITIZER_FLAGS "")
if(GPUMEM_SANITIZE)
  set(GPUMEM_SANITIZER_FLAGS -fsanitize=${GPUMEM_SANITIZE} -fno-omit-frame-pointer)
  # Undefined behaviour traps, and the address sanitizer prints the place. With error messages, kernels took up to twice as long to
  # compile, and every process 0.1 s to start.
  if(GPUMEM_SANITIZE MATCHES undefined)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      list(APPEND GPUMEM_SANITIZER_FLAGS -fsanitize-undefined-trap-on-error)
    else()
      list(APPEND GPUMEM_SANITIZER_FLAGS -fsanitize-trap=undefined)
    endif()
  endif()
endif()
# Every target links with the sanitizer flags. Targets that are instrumented also compile with these.
set(GPUMEM_INSTRUMENTATION ${GPUMEM_SANITIZER_FLAGS})

# The Fortran binding and its tests.
set(GPUMEM_FORTRAN_WARNINGS
  "$<$<Fortran_COMPILER_ID:GNU>:-std=f2018;-Wall;-Wextra;$<$<BOOL:${GPUMEM_WERROR}>:-Werror>>")

# More compile and link options of the library and the command. Builds with a sanitizer have their own checks, and nvcc's host
# code has only launch stubs.
function(gpumem_harden target)
  if(GPUMEM_SANITIZE)
    return()
  endif()
  set(flags -fstack-protector-strong)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND flags -fcf-protection=full)
  endif()
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")  # _FORTIFY_SOURCE needs optimisation
    list(APPEND flags -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:C,CXX>:${flags}>")
  target_link_options(${target} PRIVATE LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endfunction()

function(gpumem_compile_options target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion>
    $<$<AND:$<BOOL:${GPUMEM_WERROR}>,$<COMPILE_LANGUAGE:C,CXX>>:-Werror>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>  # of libstdc++ 12 itself, in std::stable_sort
    $<$<COMPILE_LANGUAGE:C,CXX>:${GPUMEM_INSTRUMENTATION}>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
    $<$<AND:$<BOOL:${GPUMEM_WERROR}>,$<COMPILE_LANGUAGE:CUDA>>:-Werror=all-warnings>)
  target_link_options(${target} PRIVATE ${GPUMEM_SANITIZER_FLAGS})
endfunction()
