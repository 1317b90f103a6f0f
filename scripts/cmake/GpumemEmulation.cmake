# A CUDA device that is emulated on the processor (tests/emulation). It tests the CUDA backend and the kernels' sources without
# a GPU. It needs the toolkit's plain headers, but not its compiler or libraries.
get_filename_component(from_compiler "$ENV{CUDACXX}" DIRECTORY)
find_program(GPUMEM_NVCC nvcc)
get_filename_component(from_path "${GPUMEM_NVCC}" DIRECTORY)
find_path(GPUMEM_CUDA_INCLUDE cuda_runtime_api.h NO_DEFAULT_PATH
  PATHS ${from_compiler}/../include ${from_path}/../include $ENV{CUDA_PATH}/include /usr/local/cuda/include)
if(NOT GPUMEM_CUDA_INCLUDE)
  message(FATAL_ERROR "GPUMEM_EMULATE=ON and no headers of a CUDA toolkit were found: run scripts/setup, put nvcc on PATH or set CUDACXX")
endif()
set(CUDAToolkit_INCLUDE_DIRS ${GPUMEM_CUDA_INCLUDE})

set(emulation ${PROJECT_SOURCE_DIR}/tests/emulation)
set(emulation_sources
  ${emulation}/device.cpp
  ${emulation}/fiber.cpp
  ${emulation}/gates.cpp
  ${emulation}/grid.cpp
  ${emulation}/memory.cpp
  ${emulation}/report.cpp
  ${emulation}/shared_memory.cpp
  ${emulation}/streams.cpp
  ${emulation}/textures.cpp
  ${emulation}/managed.cpp
  ${emulation}/transfers.cpp)
# Puts the kernels' shared memory in one place. Every binary with the kernels needs this option.
set(GPUMEM_EMULATION_LINK LINKER:-T,${emulation}/shared_memory.ld)

# Each call of the runtime passes a gate (gates.cpp), except calls that report an error.
foreach(source ${emulation_sources})
  file(STRINGS ${source} definitions REGEX "^cudaError_t cuda[A-Za-z0-9]+\\(")
  foreach(definition ${definitions})
    string(REGEX REPLACE "^cudaError_t ([A-Za-z0-9]+).*" "\\1" call "${definition}")
    if(NOT call STREQUAL cudaGetLastError)
      string(APPEND gates "GATE(${call})\n")
      list(APPEND GPUMEM_EMULATION_LINK LINKER:--wrap=${call})
    endif()
  endforeach()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/gates/gates.inc CONTENT "${gates}" @ONLY)

# For a target of kernel sources.
function(gpumem_emulated_kernels target)
  target_include_directories(${target} BEFORE PRIVATE ${emulation}/shadow)
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/tests)
  target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  # The same warnings as nvcc's. Like nvcc, permits access to memory as another type.
  target_compile_options(${target} PRIVATE -include ${emulation}/device.hpp -ffp-contract=off -fdata-sections
    -fno-strict-aliasing -Wall -Wextra -Wno-unknown-pragmas -Wno-sign-compare ${GPUMEM_SANITIZER_FLAGS})
  if(GPUMEM_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# The runtime and the kernels of the library, as objects.
function(gpumem_add_emulation)
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX)
  add_library(gpumem_kernels OBJECT ${ARGN})
  gpumem_emulated_kernels(gpumem_kernels)
  add_library(gpumem_emulation OBJECT ${emulation_sources})
  target_include_directories(gpumem_emulation PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_BINARY_DIR}/gates)
  target_include_directories(gpumem_emulation SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  # The emulation is not instrumented, for speed. It reports its stacks and memory to the address sanitizer.
  target_compile_options(gpumem_emulation PRIVATE -O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
    $<$<BOOL:${GPUMEM_WERROR}>:-Werror>)
  if(GPUMEM_SANITIZE MATCHES address)
    target_compile_definitions(gpumem_emulation PRIVATE GPUMEM_EMULATION_ASAN)
  endif()
  set_target_properties(gpumem_kernels gpumem_emulation PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()
