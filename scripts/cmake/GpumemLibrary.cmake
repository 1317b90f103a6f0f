# libgpumem.so.0 and libgpumem.a.
set(version_script ${PROJECT_SOURCE_DIR}/src/api/gpumem.map)

add_library(gpumem SHARED ${GPUMEM_CORE_OBJECTS})
add_library(gpumem::gpumem ALIAS gpumem)
set_target_properties(gpumem PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 LINKER_LANGUAGE CXX LINK_DEPENDS ${version_script})
target_include_directories(gpumem INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(gpumem PRIVATE ${GPUMEM_CORE_LIBRARIES})
# nodelete: threads and the CUDA runtime's own exit handlers may outlive a dlclose().
target_link_options(gpumem PRIVATE
  LINKER:--version-script=${version_script} LINKER:--exclude-libs,ALL LINKER:-z,nodelete LINKER:--as-needed
  ${GPUMEM_SANITIZER_FLAGS} ${GPUMEM_EMULATION_LINK})
if(NOT GPUMEM_SANITIZE)
  target_link_options(gpumem PRIVATE LINKER:-z,defs)
endif()

add_library(gpumem_static STATIC ${GPUMEM_CORE_OBJECTS})
add_library(gpumem::gpumem_static ALIAS gpumem_static)
set_target_properties(gpumem_static PROPERTIES OUTPUT_NAME gpumem EXPORT_NAME gpumem_static LINKER_LANGUAGE CXX)
target_include_directories(gpumem_static INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(gpumem_static PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
if(GPUMEM_HAS_CUDA)
  target_link_libraries(gpumem_static PUBLIC ${GPUMEM_CUDA_LIBRARIES})
endif()
