# The three things that a Sunway compiler driver is called for, per machine: the flags that say so.
# No include_guard(): toolchain files include this too, in scopes of their own.
include("${CMAKE_CURRENT_LIST_DIR}/SwbuildMachines.cmake")

# What swbuild says of a machine whose file is in a directory of SWBUILD_MACHINES, the environment variable.
list(FIND SWBUILD_MACHINES "${SWBUILD_MACHINE}" _swbuild_place)
if(SWBUILD_MACHINE AND _swbuild_place LESS 0 AND NOT "$ENV{SWBUILD_MACHINES}" STREQUAL "")
  include("${CMAKE_CURRENT_LIST_DIR}/SwbuildProgram.cmake")
  function(swbuild_machine_roles result)
    swbuild_search_program()
    swbuild_run("swbuild does not know the machine ${SWBUILD_MACHINE}."
      text emulator cmake --machine "${SWBUILD_MACHINE}")
    set("${result}" "${text}" PARENT_SCOPE)
  endfunction()
  swbuild_machine_roles(_swbuild_roles)
  cmake_language(EVAL CODE "${_swbuild_roles}")
  unset(_swbuild_roles)
endif()
unset(_swbuild_place)

# What slave code is optimised with in every configuration: unoptimised, it is of no use to anyone.
set(SWBUILD_SLAVE_OPTIMISE -O2)
# What generated host code is compiled with unless the target has a C_STANDARD of its own.
set(SWBUILD_HOST_STANDARD -std=gnu99)
# What keeps compilers silent about '#pragma scop' where the user's sources are compiled as they are; a compiler
# that does not know it gets another, or none: -DSWBUILD_PRAGMA_FLAGS=
if(NOT DEFINED SWBUILD_PRAGMA_FLAGS)
  set(SWBUILD_PRAGMA_FLAGS -Wno-unknown-pragmas)
endif()
