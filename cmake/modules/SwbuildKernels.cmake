# add_sunway_kernels(): one linkable target from a manifest.
include_guard(GLOBAL)

define_property(TARGET PROPERTY SUNWAY_MANIFEST BRIEF_DOCS "The manifest of a target of add_sunway_kernels()"
  FULL_DOCS "The absolute path of the manifest that add_sunway_kernels() was given.")
define_property(TARGET PROPERTY SUNWAY_KERNELS BRIEF_DOCS "The kernels of a target of add_sunway_kernels()"
  FULL_DOCS "The names of the regions that the manifest lists.")
define_property(TARGET PROPERTY SUNWAY_MACHINE BRIEF_DOCS "The machine a target's kernels are generated for"
  FULL_DOCS "sw26010 or sw26010-pro.")
define_property(TARGET PROPERTY SUNWAY_HEADERS BRIEF_DOCS "The generated headers"
  FULL_DOCS "Absolute paths of the headers that declare the entries of the regions.")
define_property(TARGET PROPERTY SUNWAY_REPORTS BRIEF_DOCS "The reports on a target's kernels"
  FULL_DOCS "Absolute paths of the JSON reports, one per source.")
define_property(TARGET PROPERTY SUNWAY_ROLE BRIEF_DOCS "slave for a target that is compiled for compute cores"
  FULL_DOCS "Set on the object library of the slave files where SWBUILD_SLAVE_MODE is flags.")

# add_sunway_kernels(<target> MANIFEST <file>
#   [KERNELS <name>...] [PARAMS <name>=<value>...] [TYPE STATIC|OBJECT|SHARED] [MACHINE <machine>]
#   [DEPENDS <file or target>...] [RUNTIME <target>] [OUTPUT_DIR <dir>]
#   [HEADER <var>] [REPORT <var>] [SCHEDULE <var>] [REFERENCE] [ALLOW_REFUSED] [EXCLUDE_FROM_ALL])
function(add_sunway_kernels target)
  list(APPEND CMAKE_MESSAGE_CONTEXT "swbuild")
  cmake_policy(PUSH)
  cmake_policy(VERSION 3.20...3.31)
  set(call "add_sunway_kernels(${target})")
  set(options REFERENCE ALLOW_REFUSED EXCLUDE_FROM_ALL)
  set(single MANIFEST TYPE MACHINE RUNTIME OUTPUT_DIR HEADER REPORT SCHEDULE)
  set(multiple KERNELS PARAMS DEPENDS)
  cmake_parse_arguments(PARSE_ARGV 1 arg "${options}" "${single}" "${multiple}")
  swbuild_require_parsed("${call}" "${arg_UNPARSED_ARGUMENTS}" "${arg_KEYWORDS_MISSING_VALUES}"
    ${single} ${multiple} ${options})
  swbuild_check_call()
  swbuild_query()

  set(all "")
  if(arg_EXCLUDE_FROM_ALL)
    set(all EXCLUDE_FROM_ALL)
  endif()
  add_library(${target} ${arg_TYPE} ${all})
  add_library(${PROJECT_NAME}::${target} ALIAS ${target})
  swbuild_add_sources()
  swbuild_finish_target()

  foreach(output IN ITEMS HEADER REPORT SCHEDULE)
    if(arg_${output})
      set("${arg_${output}}" "${made_${output}}" PARENT_SCOPE)
    endif()
  endforeach()
  cmake_policy(POP)
endfunction()

# The parts of add_sunway_kernels(), in its scope.

# Checks the arguments and fills in what was not given.
macro(swbuild_check_call)
  if(NOT SWBUILD_SLAVE_MODE)
    message(FATAL_ERROR
      "${call}: this directory has not called find_package(swbuild). Languages hold for a directory and those "
      "below it: write find_package(swbuild CONFIG REQUIRED) in this CMakeLists.txt or in one above it.")
  endif()
  if(NOT arg_MANIFEST)
    message(FATAL_ERROR "${call}: MANIFEST is missing. Write ${call} as add_sunway_kernels(${target} MANIFEST sunway.yaml).")
  endif()
  if(TARGET ${target})
    message(FATAL_ERROR "${call}: there is a target of this name already.")
  endif()
  get_filename_component(manifest "${arg_MANIFEST}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT arg_TYPE)
    set(arg_TYPE STATIC)
  elseif(NOT arg_TYPE MATCHES "^(STATIC|OBJECT|SHARED)$")
    message(FATAL_ERROR "${call}: TYPE is '${arg_TYPE}'; it can be STATIC, OBJECT or SHARED.")
  endif()
  if(NOT arg_RUNTIME)
    set(arg_RUNTIME swbuild::runtime)
  endif()
  if(NOT arg_OUTPUT_DIR)
    set(arg_OUTPUT_DIR "${target}.sunway")
  endif()
  get_filename_component(folder "${arg_OUTPUT_DIR}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  if(NOT arg_MACHINE)
    set(arg_MACHINE "${SWBUILD_MACHINE}")
  elseif(SWBUILD_MACHINE AND NOT arg_MACHINE STREQUAL SWBUILD_MACHINE)
    message(FATAL_ERROR
      "${call}: MACHINE is ${arg_MACHINE}, but this build's compilers are for the ${SWBUILD_MACHINE}.")
  endif()
endmacro()

# Asks swbuild which files the manifest yields.  Leaves `answer`, `count` and `choice`, the arguments that say
# what was asked.
macro(swbuild_query)
  set(choice "")
  foreach(kernel IN LISTS arg_KERNELS)
    list(APPEND choice -k "${kernel}")
  endforeach()
  foreach(parameter IN LISTS arg_PARAMS)
    list(APPEND choice -p "${parameter}")
  endforeach()
  if(arg_MACHINE)
    list(APPEND choice --machine "${arg_MACHINE}")
  endif()
  # What the manifest says decides which rules there are.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${manifest}" "${SWBUILD_EXECUTABLE}")
  swbuild_run("${call}: swbuild does not accept the manifest." answer query "${manifest}" ${choice})
  string(JSON contract GET "${answer}" version)
  if(NOT contract EQUAL 1)
    message(FATAL_ERROR
      "${call}: ${SWBUILD_EXECUTABLE} speaks version ${contract} of the query contract, and this CMake package "
      "understands version 1. Use the package of that swbuild: -Dswbuild_DIR=$(swbuild --cmake-dir), or run "
      "'swbuild vendor cmake' again.")
  endif()
  string(JSON machine GET "${answer}" machine)
  string(JSON count LENGTH "${answer}" sources)
endmacro()

# Adds the rules and the sources.  Leaves the lists made_HEADER, made_REPORT, made_SCHEDULE, stamps, originals.
macro(swbuild_add_sources)
  foreach(list IN ITEMS made_HEADER made_REPORT made_SCHEDULE stamps slaves originals kernels private_files compiled_files)
    set(${list} "")
  endforeach()
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    foreach(field IN ITEMS name source host slave header report digest)
      string(JSON ${field} GET "${answer}" sources ${index} ${field})
    endforeach()
    swbuild_json_list("${answer}" includes sources ${index} include-dirs)
    swbuild_json_list("${answer}" defines sources ${index} defines)
    swbuild_json_names("${answer}" names sources ${index} regions)
    list(APPEND kernels ${names})
    swbuild_add_rule()
    swbuild_add_source()
  endforeach()
  swbuild_set_preprocessing()
  # Of the files, not of targets: Clang goes by the last flag, and what targets link may bring -Wall.
  set_property(SOURCE ${originals} APPEND PROPERTY COMPILE_OPTIONS "${SWBUILD_PRAGMA_FLAGS}")
endmacro()

# One run of the generator per source.  Its output is a stamp that every run touches: the generated files keep
# their time when their text stays the same, which as outputs Make would take for out of date for ever, and
# with several targets behind them would be made several times at once.
macro(swbuild_add_rule)
  set(stamp "${folder}/${name}.stamp")
  set(request "${folder}/${name}.request.C")
  set(flags -q)
  if(arg_ALLOW_REFUSED)
    list(APPEND flags --allow-refused)
  endif()
  swbuild_write_request()
  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS "${folder}/${host}" "${folder}/${slave}" "${folder}/${header}" "${folder}/${report}"
    COMMAND "${SWBUILD_EXECUTABLE}" generate "${manifest}" --source "${name}" --digest "${digest}" ${choice} ${flags}
      --cpp-options "${request}" -o "${folder}" --depfile "${folder}/${name}.d" --depfile-target "${stamp}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS "${request}" "${source}" "${SWBUILD_EXECUTABLE}" ${arg_DEPENDS}
    DEPFILE "${folder}/${name}.d"
    COMMENT "Generating Sunway kernels of ${name}"
    VERBATIM)
  list(APPEND stamps "${stamp}")
  list(APPEND made_HEADER "${folder}/${header}")
  list(APPEND made_REPORT "${folder}/${report}")
  list(APPEND private_files "${folder}/${name}.d" "${folder}/${host}" "${folder}/${slave}")
  if(arg_SCHEDULE)
    set(schedule "${folder}/${name}.schedule.txt")
    add_custom_command(
      OUTPUT "${schedule}"
      COMMAND "${SWBUILD_EXECUTABLE}" explain "${manifest}" --source "${name}" ${choice} -v > "${schedule}"
      DEPENDS "${stamp}"
      COMMENT "Explaining the Sunway kernels of ${name}"
      VERBATIM)
    list(APPEND made_SCHEDULE "${schedule}")
  endif()
endmacro()

# The rule depends on what is asked for this source, not on the manifest: a change elsewhere in it generates
# nothing.  The file is only written when its text changes.  It carries the target's include directories and
# definitions, as they are for C; they must be the same in every configuration.
macro(swbuild_write_request)
  set(include_dirs "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  file(GENERATE OUTPUT "${folder}/${name}.request.$<COMPILE_LANGUAGE>" CONTENT
    "# ${digest} ${choice} ${flags}
$<$<BOOL:${include_dirs}>:-I$<JOIN:${include_dirs},\n-I>>
$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},\n-D>>
")
endmacro()

# Adds the files of one source to the target.
macro(swbuild_add_source)
  get_filename_component(origin "${source}" DIRECTORY)
  list(APPEND originals "${source}")
  if(SWBUILD_TARGET STREQUAL "host")
    set(compiled "${source}")
  else()
    set(compiled "${folder}/${host}")
    set_source_files_properties("${folder}/${host}" "${folder}/${slave}" "${folder}/${header}"
      PROPERTIES GENERATED TRUE)
    list(APPEND slaves "${folder}/${slave}")
  endif()
  target_sources(${target} PRIVATE "${compiled}")
  # The host file holds the user's text, whose quoted includes are relative to where that text lies.
  set_source_files_properties("${compiled}" PROPERTIES
    SUNWAY_INCLUDES "${origin};${includes}"
    SUNWAY_DEFINES "${defines}")
  list(APPEND compiled_files "${compiled}")
endmacro()

# Gives the host files their include directories and definitions: the target where all files have the same,
# else each file.  (With Make, a target whose files have flags of their own is compiled again as a whole when a
# file is added.)
macro(swbuild_set_preprocessing)
  set(kinds "")
  foreach(file IN LISTS compiled_files)
    get_source_file_property(includes "${file}" SUNWAY_INCLUDES)
    get_source_file_property(defines "${file}" SUNWAY_DEFINES)
    string(SHA1 kind "${includes} -D ${defines}")
    list(APPEND kinds "${kind}")
  endforeach()
  list(REMOVE_DUPLICATES kinds)
  list(LENGTH kinds count_of_kinds)
  if(count_of_kinds EQUAL 1)
    target_include_directories(${target} PRIVATE "$<$<COMPILE_LANGUAGE:C>:${includes}>")
    if(defines)
      target_compile_definitions(${target} PRIVATE "$<$<COMPILE_LANGUAGE:C>:${defines}>")
    endif()
  else()
    foreach(file IN LISTS compiled_files)
      get_source_file_property(includes "${file}" SUNWAY_INCLUDES)
      get_source_file_property(defines "${file}" SUNWAY_DEFINES)
      set_source_files_properties("${file}" PROPERTIES
        INCLUDE_DIRECTORIES "${includes}" COMPILE_DEFINITIONS "${defines}")
    endforeach()
  endif()
endmacro()

macro(swbuild_finish_target)
  add_custom_target(${target}.gen DEPENDS ${stamps} ${made_SCHEDULE})
  set_target_properties(${target}.gen PROPERTIES FOLDER swbuild)
  add_dependencies(${target} ${target}.gen)
  target_link_libraries(${target} PUBLIC ${arg_RUNTIME})
  swbuild_set_flags(${target})
  if(NOT SWBUILD_TARGET STREQUAL "host")
    swbuild_add_slaves()
  endif()
  swbuild_publish_headers()
  set_target_properties(${target} PROPERTIES
    SUNWAY_MANIFEST "${manifest}"
    SUNWAY_KERNELS "${kernels}"
    SUNWAY_MACHINE "${machine}"
    SUNWAY_HEADERS "${made_HEADER}"
    SUNWAY_REPORTS "${made_REPORT}"
    SUNWAY_CHOICE "${choice}"
    EXPORT_PROPERTIES "SUNWAY_KERNELS;SUNWAY_MACHINE"
    ADDITIONAL_CLEAN_FILES "${private_files};${made_HEADER};${made_REPORT}")
  if(arg_REFERENCE)
    add_library(${target}.reference STATIC EXCLUDE_FROM_ALL ${originals})
    set_target_properties(${target}.reference PROPERTIES FOLDER swbuild)
    swbuild_set_flags(${target}.reference)
  endif()
endmacro()

# The flags of host code.
function(swbuild_set_flags target)
  target_compile_options(${target} PRIVATE
    "$<$<AND:$<COMPILE_LANGUAGE:C>,$<NOT:$<BOOL:$<TARGET_PROPERTY:C_STANDARD>>>>:${SWBUILD_HOST_STANDARD}>")
  if(NOT SWBUILD_TARGET STREQUAL "host" AND NOT SWBUILD_TOOLCHAIN)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:C>:${SWBUILD_${SWBUILD_MACHINE}_HOST_FLAGS}>")
  endif()
endfunction()

# Slave files: a language with a compiler and flags of its own, or C with the options of the slave role.
macro(swbuild_add_slaves)
  set(counted "")
  if(SWBUILD_COUNTED AND SWBUILD_TARGET STREQUAL "emulator")
    set(counted SWBUILD_EMU_COUNTED_CODE=1)
  endif()
  target_compile_definitions(${target} PRIVATE ${counted})
  if(SWBUILD_SLAVE_MODE STREQUAL "language")
    set_source_files_properties(${slaves} PROPERTIES LANGUAGE SWSlave)
    target_sources(${target} PRIVATE ${slaves})
  else()
    add_library(${target}.slave OBJECT ${slaves})
    set_target_properties(${target}.slave PROPERTIES
      SUNWAY_ROLE slave
      FOLDER swbuild
      POSITION_INDEPENDENT_CODE "$<TARGET_PROPERTY:${target},POSITION_INDEPENDENT_CODE>")
    target_compile_options(${target}.slave PRIVATE
      ${SWBUILD_${SWBUILD_MACHINE}_SLAVE_FLAGS} ${SWBUILD_SLAVE_OPTIMISE})
    target_compile_definitions(${target}.slave PRIVATE ${counted})
    add_dependencies(${target}.slave ${target}.gen)
    target_sources(${target} PRIVATE "$<TARGET_OBJECTS:${target}.slave>")
  endif()
endmacro()

# The headers declare the entries of the regions, for programs that call them directly.
macro(swbuild_publish_headers)
  if(CMAKE_VERSION VERSION_LESS 3.23)
    target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${folder}>")
  else()
    target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${folder}" FILES ${made_HEADER})
  endif()
endmacro()

# Returns the JSON array at the path ARGN as a list; null is an empty list.
function(swbuild_json_list json result)
  set(values "")
  string(JSON type TYPE "${json}" ${ARGN})
  if(type STREQUAL "ARRAY")
    string(JSON length LENGTH "${json}" ${ARGN})
    while(length GREATER 0)
      math(EXPR length "${length} - 1")
      string(JSON value GET "${json}" ${ARGN} ${length})
      list(PREPEND values "${value}")
    endwhile()
  endif()
  set("${result}" "${values}" PARENT_SCOPE)
endfunction()

# Returns the names in the JSON array of objects at the path ARGN.
function(swbuild_json_names json result)
  set(values "")
  string(JSON type TYPE "${json}" ${ARGN})
  if(type STREQUAL "ARRAY")
    string(JSON length LENGTH "${json}" ${ARGN})
    while(length GREATER 0)
      math(EXPR length "${length} - 1")
      string(JSON value GET "${json}" ${ARGN} ${length} name)
      list(PREPEND values "${value}")
    endwhile()
  endif()
  set("${result}" "${values}" PARENT_SCOPE)
endfunction()
