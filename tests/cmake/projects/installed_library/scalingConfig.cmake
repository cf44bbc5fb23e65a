include(CMakeFindDependencyMacro)
find_dependency(swbuild CONFIG)
include("${CMAKE_CURRENT_LIST_DIR}/scaling.cmake")
