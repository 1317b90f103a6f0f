# Debian packages, one per component: `cpack -G DEB` in a build folder. With -DCMAKE_INSTALL_PREFIX=/usr, the libraries are in
# Debian's folder for the architecture.
set(packager "gpumem maintainers <maintainers@gpumem.invalid>")
if(DEFINED ENV{DEBEMAIL})  # as in Debian's own tools
  set(packager "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(GPUMEM_PACKAGE_MAINTAINER ${packager} CACHE STRING "Who packages: name and address")

set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PACKAGE_CONTACT ${GPUMEM_PACKAGE_MAINTAINER})
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_FILE_NAME gpumem-${PROJECT_VERSION})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL "")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)  # of the same version
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})

set(debian ${PROJECT_BINARY_DIR}/debian)
set(documents ${debian}/copyright)
find_program(GPUMEM_GZIP gzip)
if(GPUMEM_GZIP)
  configure_file(CHANGELOG.md ${debian}/changelog COPYONLY)
  string(TIMESTAMP GPUMEM_PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH, if it is set
  configure_file(scripts/cmake/debian/changelog.in ${debian}/changelog.Debian @ONLY)
  foreach(file changelog changelog.Debian)
    execute_process(COMMAND ${GPUMEM_GZIP} -9nc ${debian}/${file}
      OUTPUT_FILE ${debian}/${file}.gz COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND documents ${debian}/${file}.gz)
  endforeach()
endif()
set(GPUMEM_PACKAGE_NOTICE "")
if(GPUMEM_HAS_CUDA)
  file(READ NOTICE notice)
  string(STRIP "${notice}" notice)
  string(REPLACE "\n" "\n " notice "${notice}")
  string(REPLACE "\n \n" "\n .\n" notice "${notice}")  # an empty line of a field is a dot
  set(GPUMEM_PACKAGE_NOTICE "Comment:\n ${notice}\n")
endif()
configure_file(scripts/cmake/debian/copyright.in ${debian}/copyright @ONLY)

# Dependencies for packages of programs that use the library, and the trigger for ldconfig.
file(STRINGS src/api/gpumem.map symbols REGEX "^ +gpumem_")
list(TRANSFORM symbols REPLACE "^ +(.*);" " \\1@GPUMEM_0.1 0.1.0\n")
list(JOIN symbols "" symbols)
file(WRITE ${debian}/symbols "libgpumem.so.0 libgpumem0 #MINVER#\n GPUMEM_0.1@GPUMEM_0.1 0.1.0\n${symbols}")
file(WRITE ${debian}/shlibs "libgpumem 0 libgpumem0 (>= ${PROJECT_VERSION})\n")
file(WRITE ${debian}/triggers "activate-noawait ldconfig\n")

# The package of a component: its name, section, dependencies on other components, summary and description.
function(gpumem_package component name section depends sentence text)
  string(TOUPPER ${component} upper)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${sentence}\n${text}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  # A package has them, an installed copy does not.
  install(FILES ${documents} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

set(about "gpumem allocates memory of a GPU, moves data to it and inside it, reduces
and transposes it. Everything also runs on the host, with the same bits,
where there is no GPU.")
gpumem_package(library libgpumem0 libs "" "memory side of a GPU - shared library" "${about}")
gpumem_package(development libgpumem-dev libdevel library "memory side of a GPU - development files" "${about}
This package has the headers for C and C++, the static library, and what
CMake and pkg-config look for.")
gpumem_package(fortran libgpumem-fortran-dev libdevel development "memory side of a GPU - Fortran modules" "${about}
This package has the modules as source: compiled ones belong to a compiler.")
foreach(kind ${GPUMEM_MPI_KINDS})
  gpumem_package(mpi_${kind} libgpumem-mpi-${kind}0 libs library "memory side of a GPU - adapter for MPI" "${about}
This package has the adapter by which its processes meet over ${kind}.")
  string(TOUPPER mpi_${kind} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS ON)
  file(WRITE ${debian}/${kind}/shlibs "libgpumem_mpi_${kind} 0 libgpumem-mpi-${kind}0 (>= ${PROJECT_VERSION})\n")
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${debian}/${kind}/shlibs ${debian}/triggers)
endforeach()
if(TARGET gpumem_tool)
  gpumem_package(tool gpumem utils library "memory side of a GPU - command" "${about}
This package has the command gpumem, which shows devices, explains choices
and measures grids.")
endif()
if(TARGET gpumem_python)
  gpumem_package(python python3-gpumem python library "memory side of a GPU - Python package" "${about}
This package takes arrays of NumPy, PyTorch and CuPy as they are.")
endif()

set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${debian}/shlibs ${debian}/symbols ${debian}/triggers)
set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.11)")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS python3-numpy)
set(CPACK_DEBIAN_FORTRAN_PACKAGE_ARCHITECTURE all)
if(CMAKE_INSTALL_LIBDIR MATCHES "^lib/.")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_MULTIARCH same)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_MULTIARCH same)
  set(CPACK_DEBIAN_TOOL_PACKAGE_MULTIARCH foreign)
  set(CPACK_DEBIAN_FORTRAN_PACKAGE_MULTIARCH foreign)
endif()
include(CPack)
