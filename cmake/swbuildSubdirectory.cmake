# swbuild's sources as a subdirectory of a project: makes find_package(swbuild CONFIG) find them.
#
#   add_subdirectory(third_party/swbuild)       or FetchContent_MakeAvailable(swbuild)
#   find_package(swbuild CONFIG REQUIRED)       still needed: languages are enabled where they are used
#
# The program is then the one in these sources, run by SWBUILD_PYTHON, which needs the Python packages that
# pyproject.toml lists under dependencies.
set(swbuild_DIR "${CMAKE_CURRENT_SOURCE_DIR}/cmake" CACHE PATH "Where swbuildConfig.cmake is" FORCE)
if(SWBUILD_EXECUTABLE)
  return()
endif()

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
set(program "${CMAKE_CURRENT_BINARY_DIR}/swbuild")
file(CONFIGURE OUTPUT "${program}" @ONLY CONTENT
  "#!/bin/sh\nPYTHONPATH='@CMAKE_CURRENT_SOURCE_DIR@'\${PYTHONPATH:+:\"$PYTHONPATH\"} exec '@SWBUILD_PYTHON@' -m swbuild \"\$@\"\n")
file(CHMOD "${program}"
  PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(SWBUILD_EXECUTABLE "${program}" CACHE FILEPATH "The program swbuild" FORCE)
