# What the three toolchain files share.  They set SWBUILD_TARGET and SWBUILD_MACHINE, and for the emulator
# SWBUILD_EMULATOR_DIR, the directory of its compilers.
include("${CMAKE_CURRENT_LIST_DIR}/../modules/SwbuildRoles.cmake")
set(SWBUILD_TOOLCHAIN TRUE)
option(SWBUILD_MPI "Compile and link host code with the MPI wrappers" OFF)

if(SWBUILD_MPI)
  set(_swbuild_kind MPI_)
else()
  set(_swbuild_kind "")
endif()
foreach(_swbuild_language IN ITEMS C CXX)
  set(_swbuild_compiler "${SWBUILD_${SWBUILD_MACHINE}_${_swbuild_kind}${_swbuild_language}_COMPILER}")
  if(DEFINED CMAKE_${_swbuild_language}_COMPILER)
    set(_swbuild_compiler "${CMAKE_${_swbuild_language}_COMPILER}")
  endif()
  if(SWBUILD_EMULATOR_DIR AND EXISTS "${SWBUILD_EMULATOR_DIR}/${_swbuild_compiler}")
    set(_swbuild_compiler "${SWBUILD_EMULATOR_DIR}/${_swbuild_compiler}")
  endif()
  set(CMAKE_${_swbuild_language}_COMPILER "${_swbuild_compiler}")
endforeach()
set(SWBUILD_SLAVE_COMPILER "${SWBUILD_${SWBUILD_MACHINE}_C_COMPILER}")
if(SWBUILD_EMULATOR_DIR)
  set(SWBUILD_SLAVE_COMPILER "${SWBUILD_EMULATOR_DIR}/${SWBUILD_SLAVE_COMPILER}")
endif()

# The role of host code is a compile option, not a part of CMAKE_C_FLAGS: those are on link lines too, where the
# role is another one.  Slave code is another language, or a target with the role slave.
add_compile_options(
  "$<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<NOT:$<STREQUAL:$<TARGET_PROPERTY:SUNWAY_ROLE>,slave>>>:${SWBUILD_${SWBUILD_MACHINE}_HOST_FLAGS}>")
# Where a link has no role by default, published projects link everything in the hybrid one.
if(SWBUILD_${SWBUILD_MACHINE}_LINKS_HYBRID)
  set(CMAKE_EXE_LINKER_FLAGS_INIT "${SWBUILD_${SWBUILD_MACHINE}_LINK_FLAGS}")
  set(SWBUILD_LINKS_HYBRID TRUE)
endif()

# The package is found in the build machine's Python environment.
if(NOT DEFINED CMAKE_FIND_ROOT_PATH_MODE_PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
endif()
if(NOT DEFINED CMAKE_FIND_ROOT_PATH_MODE_PROGRAM)
  set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES
  SWBUILD_MACHINE SWBUILD_MPI SWBUILD_EMULATOR_DIR SWBUILD_EXECUTABLE)
unset(_swbuild_kind)
unset(_swbuild_language)
unset(_swbuild_compiler)
