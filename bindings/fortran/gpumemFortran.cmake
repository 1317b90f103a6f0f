# gpumem::fortran: the modules, compiled by the project's own Fortran compiler, because .mod files belong to one compiler.
# find_package(gpumem COMPONENTS Fortran) includes this file after the project has enabled Fortran.
if(NOT GPUMEM_FORTRAN_SOURCE)
  set(GPUMEM_FORTRAN_SOURCE ${CMAKE_CURRENT_LIST_DIR}/gpumem.f90)
endif()
add_library(gpumem_fortran STATIC EXCLUDE_FROM_ALL ${GPUMEM_FORTRAN_SOURCE})
add_library(gpumem::fortran ALIAS gpumem_fortran)
set_target_properties(gpumem_fortran PROPERTIES
  Fortran_MODULE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/gpumem_modules POSITION_INDEPENDENT_CODE ON)
target_include_directories(gpumem_fortran INTERFACE ${CMAKE_CURRENT_BINARY_DIR}/gpumem_modules)
target_link_libraries(gpumem_fortran PUBLIC gpumem::gpumem)
