# A node: what the toolchain files of the machines have in common.
set(SWBUILD_TARGET node)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR sw_64)
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")

# Programs run through the batch system: a login node cannot run them.
set(SWBUILD_QUEUE "q_sw_expr" CACHE STRING "The queue of the batch system")
set(SWBUILD_SHARE_MB "4096" CACHE STRING "Main memory of a core group, in MB")
set(SWBUILD_STACK_MB "1024" CACHE STRING "Stack of the management core, in MB")
if(NOT DEFINED CMAKE_CROSSCOMPILING_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR
    bsub -b -I -q "${SWBUILD_QUEUE}" -n 1 -cgsp "${SWBUILD_${SWBUILD_MACHINE}_CPES}"
    -host_stack "${SWBUILD_STACK_MB}" -share_size "${SWBUILD_SHARE_MB}" ${SWBUILD_${SWBUILD_MACHINE}_LAUNCH})
endif()
