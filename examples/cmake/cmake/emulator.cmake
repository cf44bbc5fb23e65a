# The toolchain file of the installed swbuild: the emulated core group.
execute_process(COMMAND swbuild --cmake-dir
  OUTPUT_VARIABLE directory OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
include("${directory}/toolchains/emulator.cmake")
