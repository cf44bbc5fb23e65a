# How slave code is compiled.
include(CMakeCommonLanguageInclude)

set(CMAKE_SWSlave_OUTPUT_EXTENSION .o)
set(CMAKE_SWSlave_OUTPUT_EXTENSION_REPLACE 0)
set(CMAKE_INCLUDE_FLAG_SWSlave "-I")
set(CMAKE_INCLUDE_SYSTEM_FLAG_SWSlave "-isystem ")
set(CMAKE_SWSlave_COMPILE_OPTIONS_PIC -fPIC)
set(CMAKE_SWSlave_COMPILE_OPTIONS_PIE "")

set(CMAKE_DEPFILE_FLAGS_SWSlave "-MD -MT <DEP_TARGET> -MF <DEP_FILE>")
set(CMAKE_SWSlave_DEPFILE_FORMAT gcc)
set(CMAKE_SWSlave_DEPENDS_USE_COMPILER TRUE)

set(CMAKE_SWSlave_FLAGS_DEBUG_INIT "-g")
set(CMAKE_SWSlave_FLAGS_RELEASE_INIT "-DNDEBUG")
set(CMAKE_SWSlave_FLAGS_RELWITHDEBINFO_INIT "-g -DNDEBUG")
set(CMAKE_SWSlave_FLAGS_MINSIZEREL_INIT "-DNDEBUG")
cmake_initialize_per_config_variable(CMAKE_SWSlave_FLAGS "Flags of slave code")

# The flags of the role come first, apart from those that a user may replace.
set(CMAKE_SWSlave_COMPILE_OBJECT
  "<CMAKE_SWSlave_COMPILER> ${CMAKE_SWSlave_ROLE_FLAGS} <DEFINES> <INCLUDES> <FLAGS> -o <OBJECT> -c <SOURCE>")
set(CMAKE_SWSlave_INFORMATION_LOADED 1)
