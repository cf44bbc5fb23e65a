# The emulator's toolchain file of the swbuild that is installed where this is built.
execute_process(COMMAND swbuild --cmake-dir
  OUTPUT_VARIABLE directory OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
include("${directory}/toolchains/emulator.cmake")
