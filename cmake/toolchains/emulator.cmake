# The emulated core group: programs run on this computer, built by stand-ins for the machine's compilers.
# -DSWBUILD_MACHINE=sw26010-pro (or the environment variable) chooses another machine.
set(SWBUILD_TARGET emulator)
if(NOT SWBUILD_MACHINE)
  set(SWBUILD_MACHINE sw26010)
  if(NOT "$ENV{SWBUILD_MACHINE}" STREQUAL "")
    set(SWBUILD_MACHINE "$ENV{SWBUILD_MACHINE}")
  endif()
endif()

option(SWBUILD_COUNTED "Code counts its work when it runs, so that profiles have model time" OFF)

# Projects that CMake configures on the way (check_ipo_supported() has one) see this file, but none of our cache
# variables; what was found once reaches them through the environment.
if(NOT SWBUILD_EMULATOR_DIR AND "$ENV{SWBUILD_EMULATOR_DIR}" MATCHES "/${SWBUILD_MACHINE}$")
  set(SWBUILD_EMULATOR_DIR "$ENV{SWBUILD_EMULATOR_DIR}")
endif()
if(NOT SWBUILD_EMULATOR_DIR)
  include("${CMAKE_CURRENT_LIST_DIR}/../modules/SwbuildProgram.cmake")
  function(swbuild_emulator_dir result)
    swbuild_search_program()
    if(NOT SWBUILD_EXECUTABLE)
      message(FATAL_ERROR
        "The program swbuild is not on PATH; it is what makes the emulator's compilers. Install it with\n"
        "  pip install swbuild\n"
        "and activate the environment, or give its place with -DSWBUILD_EXECUTABLE=/path/to/swbuild.")
    endif()
    swbuild_run("The emulator's compilers cannot be made." folder emulator path --machine "${SWBUILD_MACHINE}")
    set("${result}" "${folder}" PARENT_SCOPE)
  endfunction()
  swbuild_emulator_dir(SWBUILD_EMULATOR_DIR)
endif()
set(ENV{SWBUILD_MACHINE} "${SWBUILD_MACHINE}")
set(ENV{SWBUILD_EMULATOR_DIR} "${SWBUILD_EMULATOR_DIR}")
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
