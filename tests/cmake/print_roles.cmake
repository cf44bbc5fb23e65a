# Prints every variable of the roles file.
include("${ROLES}")
get_cmake_property(names VARIABLES)
foreach(name IN LISTS names)
  if(name MATCHES "^SWBUILD_")
    execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "${name}: ${${name}}")
  endif()
endforeach()
