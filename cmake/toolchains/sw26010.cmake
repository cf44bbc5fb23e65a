# The SW26010 (sw5cc).
set(SWBUILD_MACHINE sw26010)
include("${CMAKE_CURRENT_LIST_DIR}/node.cmake")
