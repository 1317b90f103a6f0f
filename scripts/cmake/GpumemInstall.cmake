# Installed files by component: library, development (bindings/mpi too), tool (tools/), fortran, python, mpi_openmpi, mpi_mpich (bindings/).
include(CMakePackageConfigHelpers)

install(TARGETS gpumem gpumem_static gpumem_cpp EXPORT gpumemTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(FILES include/gpumem.h bindings/cpp/gpumem.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY bindings/cpp/gpumem DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
include(GpumemSbom)
gpumem_sbom(${PROJECT_BINARY_DIR}/gpumem.spdx.json)
install(FILES scripts/gpumem.supp ${PROJECT_BINARY_DIR}/gpumem.spdx.json DESTINATION ${CMAKE_INSTALL_DATADIR}/gpumem)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gpumem)
install(EXPORT gpumemTargets NAMESPACE gpumem:: DESTINATION ${package_dir})
configure_package_config_file(scripts/cmake/gpumemConfig.cmake.in ${PROJECT_BINARY_DIR}/gpumemConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gpumemConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gpumemConfig.cmake ${PROJECT_BINARY_DIR}/gpumemConfigVersion.cmake
  DESTINATION ${package_dir})

set(GPUMEM_PC_PRIVATE_LIBS "-lpthread -ldl -lm -lstdc++")
set(GPUMEM_PC_CUDA "")
if(GPUMEM_HAS_CUDA)
  set(GPUMEM_PC_CUDA "cudalibdir=${CUDAToolkit_LIBRARY_DIR}\n")  # elsewhere: --define-variable=cudalibdir=...
  set(GPUMEM_PC_PRIVATE_LIBS "-L\${cudalibdir} -lcudart_static -lrt ${GPUMEM_PC_PRIVATE_LIBS}")
endif()
# Relative, so the file is valid under every prefix of `cmake --install --prefix`.
file(RELATIVE_PATH GPUMEM_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(scripts/cmake/gpumem.pc.in ${PROJECT_BINARY_DIR}/gpumem.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/gpumem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall VERBATIM COMMENT "Removing what was installed from this build"
    COMMAND ${CMAKE_COMMAND} -P ${PROJECT_SOURCE_DIR}/scripts/cmake/uninstall.cmake ${PROJECT_BINARY_DIR})
endif()
