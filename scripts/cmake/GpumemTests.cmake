# The code of the tests is compiled once and links to the library of any build, through its header or its internals. A build with
# sanitizers takes the code from the build without (GPUMEM_TESTS_FROM) and links it again.
set(GPUMEM_TESTS_FROM "" CACHE PATH "Folder of another build, whose compiled tests are linked here")

# An archive of test code. gpumem_test_support has the parts that all of them include.
function(gpumem_test_code name)
  if(GPUMEM_TESTS_FROM)
    set(archive ${GPUMEM_TESTS_FROM}/tests/lib${name}.a)
    add_library(${name} STATIC IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${archive})
    set_property(GLOBAL APPEND PROPERTY GPUMEM_TEST_ARCHIVES ${archive})
    add_dependencies(${name} gpumem_test_code)
    return()
  endif()
  add_library(${name} STATIC ${ARGN})
  set_target_properties(${name} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  set_property(GLOBAL APPEND PROPERTY GPUMEM_TEST_ARCHIVES ${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PRIVATE GTest::gtest)
  gpumem_compile_options(${name})
  target_compile_options(${name} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-Og>) # compiling takes longer than running
  if(NOT GPUMEM_PRECOMPILE)
    return()
  elseif(name STREQUAL gpumem_test_support)
    target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/precompiled.hpp)
  else()
    target_precompile_headers(${name} REUSE_FROM gpumem_test_support)
  endif()
endfunction()

# A program of such archives, with the sources named after them.
function(gpumem_test_program name)
  cmake_parse_arguments(arg "" "" "CODE;SOURCES" ${ARGN})
  add_executable(${name} ${PROJECT_SOURCE_DIR}/tests/support/sanitizer_options.cpp ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  # The whole archive, because nothing refers to a test.
  foreach(code ${arg_CODE})
    target_link_libraries(${name} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,${code}>)
  endforeach()
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  if(GPUMEM_SANITIZE MATCHES address)
    target_compile_definitions(${name} PRIVATE GPUMEM_ADDRESS_SANITIZER)
  elseif(GPUMEM_SANITIZE MATCHES thread)
    target_compile_definitions(${name} PRIVATE GPUMEM_THREAD_SANITIZER)
  endif()
  gpumem_compile_options(${name})
endfunction()

set(GPUMEM_TEST_SHARDS 0 CACHE STRING "Processes that share the many short tests of a program; 0: each test has its own, and a name for ctest")

# The short tests of a program. ctest finds them when it starts, because the kinds of context depend on the machine that runs the
# tests. gtest_discover_tests() keeps only one setting of an environment.
function(gpumem_short_tests program)
  cmake_parse_arguments(arg "" "PREFIX;FILTER;LABEL" "ENVIRONMENT" ${ARGN})
  set(properties TIMEOUT 600)
  if(arg_LABEL)
    list(APPEND properties LABELS ${arg_LABEL})
  endif()
  set(shards ${GPUMEM_TEST_SHARDS})
  if(shards EQUAL 0 AND NOT arg_ENVIRONMENT)
    gtest_discover_tests(${program} DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES
      TEST_PREFIX ${arg_PREFIX} TEST_FILTER ${arg_FILTER} PROPERTIES ${properties})
    return()
  elseif(shards EQUAL 0)
    set(shards 1)
  endif()
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    set(name ${arg_PREFIX}${program}.${arg_LABEL}.${shard})
    add_test(NAME ${name} COMMAND ${program} --gtest_filter=${arg_FILTER})
    set_tests_properties(${name} PROPERTIES ${properties} COST 100
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard};${arg_ENVIRONMENT}")
  endforeach()
endfunction()

# Called last. Makes the target that compiles all test code.
function(gpumem_test_code_target)
  get_property(archives GLOBAL PROPERTY GPUMEM_TEST_ARCHIVES)
  if(GPUMEM_TESTS_FROM)
    add_custom_target(gpumem_test_code BYPRODUCTS ${archives}
      COMMAND ${CMAKE_COMMAND} --build ${GPUMEM_TESTS_FROM} --target gpumem_test_code -- --quiet)
  else()
    add_custom_target(gpumem_test_code DEPENDS ${archives})
  endif()
endfunction()
