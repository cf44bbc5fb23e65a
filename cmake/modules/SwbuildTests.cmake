# sunway_add_tests(): every kernel of a target against its serial reference, as CTest tests.
include_guard(GLOBAL)

# sunway_add_tests(<target> [PREFIX <text>] [LABELS <label>...] [TIMEOUT <seconds>] [ARGUMENTS <word>...])
#
# The tests follow from the manifest: nothing is built or run to find them.
function(sunway_add_tests target)
  list(APPEND CMAKE_MESSAGE_CONTEXT "swbuild")
  set(call "sunway_add_tests(${target})")
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX;TIMEOUT" "LABELS;ARGUMENTS")
  swbuild_require_parsed("${call}" "${arg_UNPARSED_ARGUMENTS}" "${arg_KEYWORDS_MISSING_VALUES}"
    PREFIX TIMEOUT LABELS ARGUMENTS)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "${call}: there is no target of this name.")
  endif()
  get_target_property(manifest ${target} SUNWAY_MANIFEST)
  get_target_property(choice ${target} SUNWAY_CHOICE)
  if(NOT manifest)
    message(FATAL_ERROR "${call}: this target was not made by add_sunway_kernels().")
  endif()
  if(NOT DEFINED arg_PREFIX)
    set(arg_PREFIX "${target}.")
  endif()
  swbuild_test_launch(where lock)
  swbuild_run("${call}: swbuild does not accept the manifest." answer query "${manifest}" ${choice})
  string(JSON count LENGTH "${answer}" tests)
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    foreach(field IN ITEMS name option value timeout)
      string(JSON ${field} GET "${answer}" tests ${index} ${field})
    endforeach()
    if(arg_TIMEOUT)
      set(timeout "${arg_TIMEOUT}")
    endif()
    set(test "${arg_PREFIX}${name}")
    swbuild_without_kernels(rest ${choice})
    add_test(NAME "${test}"
      COMMAND "${SWBUILD_EXECUTABLE}" check "${manifest}" ${option} ${value} ${rest} -q ${where} ${arg_ARGUMENTS})
    set_tests_properties("${test}" PROPERTIES
      LABELS "sunway;${arg_LABELS}"
      TIMEOUT "${timeout}"
      SKIP_RETURN_CODE 77
      ${lock})
  endforeach()
endfunction()

# Returns the arguments that say where kernels are checked, and the properties of tests that go with them.
function(swbuild_test_launch where lock)
  set("${where}" "" PARENT_SCOPE)
  set("${lock}" "" PARENT_SCOPE)
  if(SWBUILD_TARGET STREQUAL "node")
    set(launcher "${SWBUILD_LAUNCHER}")
    if(NOT launcher)
      set(launcher bsub)
    endif()
    set("${where}" --target node --launcher "${launcher}" PARENT_SCOPE)
    set("${lock}" RESOURCE_LOCK sw-node PARENT_SCOPE)
  endif()
endfunction()

# Returns the arguments in ARGN without -k NAME and -p NAME=VALUE: a test chooses its own kernel, and in a check
# -p is the size to run.
function(swbuild_without_kernels result)
  set(kept "")
  set(skip FALSE)
  foreach(word IN LISTS ARGN)
    if(skip)
      set(skip FALSE)
    elseif(word MATCHES "^-[kp]$")
      set(skip TRUE)
    else()
      list(APPEND kept "${word}")
    endif()
  endforeach()
  set("${result}" "${kept}" PARENT_SCOPE)
endfunction()
