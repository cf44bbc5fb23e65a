# Finds the program swbuild, on the build machine whatever the target machine is.
include_guard(GLOBAL)

# Sets the cache variable SWBUILD_EXECUTABLE and defines swbuild::swbuild.
function(swbuild_find_program)
  swbuild_search_program()
  if(NOT SWBUILD_EXECUTABLE)
    message(FATAL_ERROR
      "The program swbuild is not on PATH. Install it with\n"
      "  pip install swbuild\n"
      "and activate the environment, or give its place with -DSWBUILD_EXECUTABLE=/path/to/swbuild.")
  endif()
  if(NOT EXISTS "${SWBUILD_EXECUTABLE}")
    message(FATAL_ERROR
      "SWBUILD_EXECUTABLE is ${SWBUILD_EXECUTABLE}, but there is no such file (any more). If it was in a "
      "temporary build environment, configure a fresh build directory, or give another place with "
      "-DSWBUILD_EXECUTABLE=.")
  endif()
  if(NOT TARGET swbuild::swbuild)
    add_executable(swbuild::swbuild IMPORTED GLOBAL)
    set_target_properties(swbuild::swbuild PROPERTIES IMPORTED_LOCATION "${SWBUILD_EXECUTABLE}")
  endif()
endfunction()

# Looks beside this package first, so that both are of one installation, then on PATH.  A checkout runs its own
# sources.  The layouts: PREFIX/share/cmake/swbuild, and swbuild/cmake in PREFIX/lib/python3.X/site-packages.
function(swbuild_search_program)
  get_filename_component(checkout "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../.." ABSOLUTE)
  if(NOT SWBUILD_EXECUTABLE AND EXISTS "${checkout}/swbuild/__main__.py")
    swbuild_wrap_checkout("${checkout}")
  endif()
  # Only in these layouts: what lies around a vendored copy is nobody's installation.
  set(hints "")
  if(CMAKE_CURRENT_FUNCTION_LIST_DIR MATCHES "^(.+)/(share/cmake/swbuild|lib(64)?/[^/]+/site-packages/swbuild/cmake)/modules$")
    set(hints HINTS "${CMAKE_MATCH_1}/bin")
  endif()
  find_program(SWBUILD_EXECUTABLE swbuild
    ${hints}
    DOC "The program swbuild"
    NO_CMAKE_FIND_ROOT_PATH)
  mark_as_advanced(SWBUILD_EXECUTABLE)
endfunction()

# Sets SWBUILD_EXECUTABLE to a script that runs the sources in `checkout` with SWBUILD_PYTHON, which needs the
# packages that pyproject.toml lists under dependencies.
function(swbuild_wrap_checkout checkout)
  find_program(SWBUILD_PYTHON NAMES python3 python DOC "The Python that runs swbuild" NO_CMAKE_FIND_ROOT_PATH)
  execute_process(
    COMMAND "${SWBUILD_PYTHON}" -c "import islpy, numpy, pycparser, rich, yaml"
    RESULT_VARIABLE status
    ERROR_VARIABLE problem
    OUTPUT_QUIET)
  if(NOT status EQUAL 0)
    string(REGEX REPLACE ".*\n([^\n]+)\n$" "\\1" problem "${problem}")
    message(FATAL_ERROR
      "${SWBUILD_PYTHON} cannot run swbuild: ${problem}\n"
      "Install what it needs with\n"
      "  ${SWBUILD_PYTHON} -m pip install islpy numpy pycparser pyyaml rich\n"
      "or give another interpreter with -DSWBUILD_PYTHON=.")
  endif()
  set(program "${CMAKE_BINARY_DIR}/swbuild-program/swbuild")
  file(CONFIGURE OUTPUT "${program}" @ONLY CONTENT
    "#!/bin/sh\nPYTHONPATH='@checkout@'\${PYTHONPATH:+:\"$PYTHONPATH\"} exec '@SWBUILD_PYTHON@' -m swbuild \"\$@\"\n")
  file(CHMOD "${program}"
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  set(SWBUILD_EXECUTABLE "${program}" CACHE FILEPATH "The program swbuild" FORCE)
endfunction()

# Runs swbuild with the arguments after `output` and returns what it prints in the variable `output`.
# A failure ends the configuration, with swbuild's own located messages under the sentence `what`.
function(swbuild_run what output)
  execute_process(
    COMMAND "${SWBUILD_EXECUTABLE}" ${ARGN}
    RESULT_VARIABLE status
    OUTPUT_VARIABLE text
    ERROR_VARIABLE problems
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    # Indented lines are the ones that message() leaves as they are.
    string(REPLACE "\n" "\n  " problems "${problems}")
    message(FATAL_ERROR "${what}\n\n  ${problems}\n")
  endif()
  if(problems)
    message(STATUS "${problems}")
  endif()
  set("${output}" "${text}" PARENT_SCOPE)
endfunction()
