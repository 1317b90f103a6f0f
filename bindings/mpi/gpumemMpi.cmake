# gpumem::mpi: the MPI adapter, compiled against the MPI that FindMPI finds. MPI_C_COMPILER selects another one.
# find_package(gpumem COMPONENTS MPI) includes this.
add_library(gpumem_mpi STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/gpumem_mpi.c)
add_library(gpumem::mpi ALIAS gpumem_mpi)
target_compile_features(gpumem_mpi PRIVATE c_std_99)
set_target_properties(gpumem_mpi PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(gpumem_mpi PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(gpumem_mpi PUBLIC gpumem::gpumem MPI::MPI_C PRIVATE Threads::Threads)
