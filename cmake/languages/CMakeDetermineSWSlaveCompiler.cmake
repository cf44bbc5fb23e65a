# Chooses the compiler of slave code: -DCMAKE_SWSlave_COMPILER, the environment's SWSLAVECC, the machine's driver
# of the toolchain file, or the C compiler.
if(NOT CMAKE_SWSlave_COMPILER)
  if(NOT "$ENV{SWSLAVECC}" STREQUAL "")
    set(CMAKE_SWSlave_COMPILER "$ENV{SWSLAVECC}")
  elseif(SWBUILD_SLAVE_COMPILER)
    set(CMAKE_SWSlave_COMPILER "${SWBUILD_SLAVE_COMPILER}")
  else()
    set(CMAKE_SWSlave_COMPILER "${CMAKE_C_COMPILER}")
  endif()
endif()
if(NOT IS_ABSOLUTE "${CMAKE_SWSlave_COMPILER}")
  set(_swbuild_wanted "${CMAKE_SWSlave_COMPILER}")
  unset(CMAKE_SWSlave_COMPILER)
  unset(CMAKE_SWSlave_COMPILER CACHE)
  find_program(CMAKE_SWSlave_COMPILER "${_swbuild_wanted}" DOC "The compiler of slave code" NO_CMAKE_FIND_ROOT_PATH)
  if(NOT CMAKE_SWSlave_COMPILER)
    message(FATAL_ERROR
      "The compiler of slave code, ${_swbuild_wanted}, is not on PATH. Load the machine's compiler module, give "
      "another with -DCMAKE_SWSlave_COMPILER=, or build for the emulator:\n"
      "  -DCMAKE_TOOLCHAIN_FILE=${_SWBUILD_PACKAGE_DIR}/toolchains/emulator.cmake")
  endif()
  unset(_swbuild_wanted)
endif()
set(CMAKE_SWSlave_COMPILER_ENV_VAR SWSLAVECC)
list(JOIN SWBUILD_${SWBUILD_MACHINE}_SLAVE_FLAGS " " CMAKE_SWSlave_ROLE_FLAGS)
list(JOIN SWBUILD_SLAVE_OPTIMISE " " CMAKE_SWSlave_FLAGS_INIT)
configure_file("${CMAKE_CURRENT_LIST_DIR}/CMakeSWSlaveCompiler.cmake.in"
  "${CMAKE_PLATFORM_INFO_DIR}/CMakeSWSlaveCompiler.cmake" @ONLY)
