# libgpumem.so.0 and libgpumem.a.
set(version_script ${PROJECT_SOURCE_DIR}/src/api/gpumem.map)

function(gpumem_shared_library target)
  add_library(${target} SHARED ${ARGN})
  set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 LINKER_LANGUAGE CXX LINK_DEPENDS ${version_script})
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE ${GPUMEM_CORE_LIBRARIES})
  # nodelete: threads and the CUDA runtime's own exit handlers may outlive a dlclose().
  target_link_options(${target} PRIVATE
    LINKER:--version-script=${version_script} LINKER:--exclude-libs,ALL LINKER:-z,nodelete LINKER:--as-needed
    $<$<CONFIG:Release>:LINKER:--strip-all>  # symbols that are not exported: a tenth of the file
    ${GPUMEM_SANITIZER_FLAGS} ${GPUMEM_EMULATION_LINK})
  gpumem_harden(${target})
  if(NOT GPUMEM_SANITIZE)
    target_link_options(${target} PRIVATE LINKER:-z,defs)
  endif()
endfunction()

# Files in a folder of the prefix find the installed library by a relative path. In /usr, the loader finds it.
function(gpumem_install_run_path target folder)
  if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    file(RELATIVE_PATH to_library ${CMAKE_INSTALL_PREFIX}/${folder} ${CMAKE_INSTALL_FULL_LIBDIR})
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
  endif()
endfunction()

gpumem_shared_library(gpumem ${GPUMEM_CORE_OBJECTS})
add_library(gpumem::gpumem ALIAS gpumem)
# For a test: the library of the presets without CUDA, from the objects of this build.
if(GPUMEM_TESTS AND TARGET gpumem_absent)
  gpumem_shared_library(gpumem_without_cuda $<TARGET_OBJECTS:gpumem_core> ${loop_objects} $<TARGET_OBJECTS:gpumem_absent>)
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
