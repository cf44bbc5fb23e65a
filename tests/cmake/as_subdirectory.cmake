# Included by every project(): gives the top-level project swbuild's sources as a subdirectory.
if(PROJECT_NAME STREQUAL CMAKE_PROJECT_NAME AND NOT CMAKE_PROJECT_NAME STREQUAL swbuild)
  add_subdirectory("${SWBUILD_SOURCES}" swbuild)
endif()
