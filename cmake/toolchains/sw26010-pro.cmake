# The SW26010-Pro (swgcc).
set(SWBUILD_MACHINE sw26010-pro)
include("${CMAKE_CURRENT_LIST_DIR}/node.cmake")
