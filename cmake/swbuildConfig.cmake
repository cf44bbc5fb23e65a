# swbuild for CMake: add_sunway_kernels() and sunway_add_tests().
#
#   find_package(swbuild CONFIG REQUIRED)     at file scope: it enables the language SWSlave
#
# defines
#   swbuild::swbuild      the program (an imported executable)
#   swbuild::runtime      what an executable with kernels links: the hybrid link role and the libraries
#   SWBUILD_TARGET        emulator, node, or host (serial: no compute cores); set by the toolchain files
#   SWBUILD_MACHINE       sw26010 or sw26010-pro; set by the toolchain files
#   SWBUILD_SLAVE_MODE    language (slave code is the language SWSlave) or flags (C with slave options)
#
# Documented in docs/build-cmake.md.
cmake_policy(PUSH)
cmake_policy(VERSION 3.20...3.31)

if(CMAKE_VERSION VERSION_LESS 3.20)
  set(swbuild_FOUND FALSE)
  set(swbuild_NOT_FOUND_MESSAGE "swbuild needs CMake 3.20 or later; this is ${CMAKE_VERSION}.")
  cmake_policy(POP)
  return()
endif()

foreach(_swbuild_component IN LISTS swbuild_FIND_COMPONENTS)
  if(_swbuild_component MATCHES "^(Kernels|Testing)$")
    set(swbuild_${_swbuild_component}_FOUND TRUE)
  elseif(swbuild_FIND_REQUIRED_${_swbuild_component})
    set(swbuild_FOUND FALSE)
    set(swbuild_NOT_FOUND_MESSAGE
      "swbuild has no component '${_swbuild_component}'; its components are Kernels and Testing.")
    cmake_policy(POP)
    return()
  endif()
endforeach()
unset(_swbuild_component)

if(DEFINED CMAKE_CURRENT_FUNCTION AND NOT CMAKE_CURRENT_FUNCTION STREQUAL "")
  message(FATAL_ERROR
    "find_package(swbuild) was called in the function ${CMAKE_CURRENT_FUNCTION}(). It enables a language, "
    "which CMake permits only at file scope: call find_package(swbuild) in a CMakeLists.txt, outside of "
    "any function.")
endif()
get_property(_swbuild_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if(NOT "C" IN_LIST _swbuild_languages)
  message(FATAL_ERROR
    "swbuild generates C, but the project has not enabled that language: write project(... LANGUAGES C) "
    "before find_package(swbuild).")
endif()
unset(_swbuild_languages)

include("${CMAKE_CURRENT_LIST_DIR}/modules/SwbuildProgram.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/modules/SwbuildRoles.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/modules/SwbuildTarget.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/modules/SwbuildArguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/modules/SwbuildKernels.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/modules/SwbuildTests.cmake")

swbuild_find_program()
swbuild_choose_target()
swbuild_define_runtime()

# A language can only be enabled at file scope, and for this directory and those below it.
if(SWBUILD_SLAVE_MODE STREQUAL "language" AND NOT DEFINED CMAKE_SWSlave_COMPILE_OBJECT)
  list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}/languages")
  enable_language(SWSlave)
  list(REMOVE_AT CMAKE_MODULE_PATH 0)
endif()

cmake_policy(POP)
