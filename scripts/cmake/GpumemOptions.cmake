# What every target of the project is compiled with.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)  # a program is not linked anew for a change inside the library

set(GPUMEM_SANITIZER_FLAGS "")
if(GPUMEM_SANITIZE)
  set(GPUMEM_SANITIZER_FLAGS -fsanitize=${GPUMEM_SANITIZE} -fno-omit-frame-pointer)
  if(GPUMEM_SANITIZE MATCHES undefined)
    list(APPEND GPUMEM_SANITIZER_FLAGS -fno-sanitize-recover=undefined)
  endif()
endif()
# What is compiled with them; everything is linked with them.
set(GPUMEM_INSTRUMENTATION ${GPUMEM_SANITIZER_FLAGS})

function(gpumem_compile_options target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion>
    $<$<AND:$<BOOL:${GPUMEM_WERROR}>,$<COMPILE_LANGUAGE:C,CXX>>:-Werror>
    $<$<COMPILE_LANGUAGE:C,CXX>:${GPUMEM_INSTRUMENTATION}>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
    $<$<AND:$<BOOL:${GPUMEM_WERROR}>,$<COMPILE_LANGUAGE:CUDA>>:-Werror=all-warnings>)
  target_link_options(${target} PRIVATE ${GPUMEM_SANITIZER_FLAGS})
endfunction()
