# Where the build is for: the emulator, a node, or this computer without compute cores.
include_guard(GLOBAL)

# Sets SWBUILD_TARGET, SWBUILD_MACHINE and SWBUILD_SLAVE_MODE in the caller's scope, or fails with a reason.
macro(swbuild_choose_target)
  swbuild_known_compiler(_swbuild_known)
  if(NOT SWBUILD_TARGET)
    if(_swbuild_known)
      set(SWBUILD_TARGET node)
    else()
      set(SWBUILD_TARGET host)
      swbuild_say_once("swbuild: no Sunway toolchain file, so regions run serially (SWBUILD_TARGET=host)")
    endif()
  endif()
  if(NOT SWBUILD_TARGET MATCHES "^(emulator|node|host)$")
    message(FATAL_ERROR "SWBUILD_TARGET is '${SWBUILD_TARGET}'; it can be emulator, node or host.")
  endif()
  if(NOT SWBUILD_MACHINE AND _swbuild_known)
    set(SWBUILD_MACHINE "${_swbuild_known}")
  endif()
  if(SWBUILD_MACHINE AND NOT SWBUILD_MACHINE IN_LIST SWBUILD_MACHINES)
    list(JOIN SWBUILD_MACHINES " or " _swbuild_known)
    message(FATAL_ERROR "SWBUILD_MACHINE is '${SWBUILD_MACHINE}'; it can be ${_swbuild_known}.")
  endif()
  if(NOT SWBUILD_TARGET STREQUAL "host" AND NOT SWBUILD_MACHINE)
    message(FATAL_ERROR
      "SWBUILD_TARGET is ${SWBUILD_TARGET}, but the compiler ${CMAKE_C_COMPILER} is not a Sunway compiler "
      "that swbuild knows. Configure a fresh build directory with one of the toolchain files:\n"
      "  -DCMAKE_TOOLCHAIN_FILE=${_SWBUILD_PACKAGE_DIR}/toolchains/emulator.cmake\n"
      "or say which machine the compiler is for with -DSWBUILD_MACHINE=sw26010-pro.")
  endif()
  if(SWBUILD_TARGET STREQUAL "emulator" AND NOT SWBUILD_TOOLCHAIN AND NOT _swbuild_known
      AND NOT CMAKE_C_COMPILER MATCHES "mpi")
    message(FATAL_ERROR
      "SWBUILD_TARGET is emulator, but ${CMAKE_C_COMPILER} is none of the emulator's compilers. Configure "
      "a fresh build directory with\n"
      "  -DCMAKE_TOOLCHAIN_FILE=${_SWBUILD_PACKAGE_DIR}/toolchains/emulator.cmake")
  endif()
  swbuild_choose_slave_mode()
  unset(_swbuild_known)
endmacro()

get_filename_component(_SWBUILD_PACKAGE_DIR "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
set(_SWBUILD_PACKAGE_DIR "${_SWBUILD_PACKAGE_DIR}" CACHE INTERNAL "Where swbuild's CMake package lies")

# Returns the machine that the C compiler's name belongs to, or nothing.
function(swbuild_known_compiler result)
  get_filename_component(name "${CMAKE_C_COMPILER}" NAME)
  set(machine "")
  # Drivers carry versions behind their names.
  foreach(candidate IN LISTS SWBUILD_MACHINES)
    foreach(driver IN LISTS SWBUILD_${candidate}_KNOWN_COMPILERS)
      string(FIND "${name}" "${driver}" place)
      if(place EQUAL 0 AND NOT machine)
        set(machine ${candidate})
      endif()
    endforeach()
  endforeach()
  set("${result}" "${machine}" PARENT_SCOPE)
endfunction()

macro(swbuild_choose_slave_mode)
  if(SWBUILD_TARGET STREQUAL "host")
    set(SWBUILD_SLAVE_MODE none)
  elseif(NOT SWBUILD_SLAVE_MODE OR SWBUILD_SLAVE_MODE STREQUAL "none")
    # CMake's own languages of this kind know Make and Ninja only.
    if(CMAKE_GENERATOR MATCHES "Make|Ninja")
      set(SWBUILD_SLAVE_MODE language)
    else()
      set(SWBUILD_SLAVE_MODE flags)
    endif()
  elseif(NOT SWBUILD_SLAVE_MODE MATCHES "^(language|flags)$")
    message(FATAL_ERROR "SWBUILD_SLAVE_MODE is '${SWBUILD_SLAVE_MODE}'; it can be language or flags.")
  endif()
endmacro()

function(swbuild_say_once text)
  get_property(said GLOBAL PROPERTY SWBUILD_SAID)
  if(NOT text IN_LIST said)
    set_property(GLOBAL APPEND PROPERTY SWBUILD_SAID "${text}")
    message(STATUS "${text}")
  endif()
endfunction()

# Defines swbuild::runtime.  Libraries with kernels link it publicly, so that what is exported is a name:
# a consumer on another machine, or with the emulator, gets that machine's flags.
function(swbuild_define_runtime)
  if(TARGET swbuild::runtime)
    return()
  endif()
  add_library(swbuild::runtime INTERFACE IMPORTED GLOBAL)
  if(SWBUILD_TARGET STREQUAL "host")
    target_link_libraries(swbuild::runtime INTERFACE m)
    return()
  endif()
  set(role ${SWBUILD_${SWBUILD_MACHINE}_LINK_FLAGS})
  if(SWBUILD_LINKS_HYBRID)
    # The toolchain file links all executables in the hybrid role.
    set(role "$<$<NOT:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>>:${role}>")
  endif()
  target_link_options(swbuild::runtime INTERFACE "${role}")
  if(NOT DEFINED SWBUILD_LIBRARIES)
    set(SWBUILD_LIBRARIES ${SWBUILD_${SWBUILD_MACHINE}_LIBRARIES})
  endif()
  target_link_libraries(swbuild::runtime INTERFACE ${SWBUILD_LIBRARIES})
endfunction()
