# Compiles an empty slave file once per build directory.
if(CMAKE_SWSlave_COMPILER_WORKS)
  return()
endif()
message(CHECK_START "Check for working slave compiler: ${CMAKE_SWSlave_COMPILER}")
set(_swbuild_probe "${CMAKE_BINARY_DIR}${CMAKE_FILES_DIRECTORY}/swbuild-probe")
file(WRITE "${_swbuild_probe}.c" "int swbuild_probe(void) { return 0; }\n")
separate_arguments(_swbuild_flags UNIX_COMMAND "${CMAKE_SWSlave_ROLE_FLAGS} ${CMAKE_SWSlave_FLAGS}")
execute_process(
  COMMAND "${CMAKE_SWSlave_COMPILER}" ${_swbuild_flags} -c "${_swbuild_probe}.c" -o "${_swbuild_probe}.o"
  RESULT_VARIABLE _swbuild_status
  OUTPUT_VARIABLE _swbuild_output
  ERROR_VARIABLE _swbuild_output)
if(NOT _swbuild_status EQUAL 0)
  message(CHECK_FAIL "broken")
  string(REPLACE "\n" "\n  " _swbuild_output "${_swbuild_output}")
  list(JOIN _swbuild_flags " " _swbuild_flags)
  message(FATAL_ERROR
    "The slave compiler cannot compile a simple file.\n"
    "  command: ${CMAKE_SWSlave_COMPILER} ${_swbuild_flags} -c\n\n  ${_swbuild_output}\n"
    "The flags are those of the ${SWBUILD_MACHINE}: check that SWBUILD_MACHINE and CMAKE_SWSlave_COMPILER go together.")
endif()
message(CHECK_PASS "works")
set(CMAKE_SWSlave_COMPILER_WORKS 1 CACHE INTERNAL "")
unset(_swbuild_probe)
unset(_swbuild_flags)
unset(_swbuild_status)
unset(_swbuild_output)
