# The toolchain file of the installed swbuild: a node with the SW26010-Pro.
execute_process(COMMAND swbuild --cmake-dir
  OUTPUT_VARIABLE directory OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
include("${directory}/toolchains/sw26010-pro.cmake")
