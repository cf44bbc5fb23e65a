# swbuild's sources as a subdirectory of a project: makes find_package(swbuild CONFIG) find them.
#
#   add_subdirectory(third_party/swbuild)       or FetchContent_MakeAvailable(swbuild)
#   find_package(swbuild CONFIG REQUIRED)       still needed: languages are enabled where they are used
set(swbuild_DIR "${CMAKE_CURRENT_SOURCE_DIR}/cmake" CACHE PATH "Where swbuildConfig.cmake is" FORCE)
