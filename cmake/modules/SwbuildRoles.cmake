# The three things that a Sunway compiler driver is called for, per machine: the flags that say so.
# The same table as swbuild/toolchain/table.py; a test compares them.
# No include_guard(): toolchain files include this too, in scopes of their own.

set(SWBUILD_MACHINES sw26010 sw26010-pro)

set(SWBUILD_sw26010_C_COMPILER sw5cc)
set(SWBUILD_sw26010_CXX_COMPILER sw5CC)
set(SWBUILD_sw26010_MPI_C_COMPILER mpicc)
set(SWBUILD_sw26010_MPI_CXX_COMPILER mpiCC)
set(SWBUILD_sw26010_HOST_FLAGS -host)
set(SWBUILD_sw26010_SLAVE_FLAGS -slave -msimd -std=gnu99)
set(SWBUILD_sw26010_LINK_FLAGS -hybrid)
set(SWBUILD_sw26010_LIBRARIES m_slave m)

set(SWBUILD_sw26010-pro_C_COMPILER swgcc)
set(SWBUILD_sw26010-pro_CXX_COMPILER swg++)
set(SWBUILD_sw26010-pro_MPI_C_COMPILER mpicc)
set(SWBUILD_sw26010-pro_MPI_CXX_COMPILER mpicxx)
set(SWBUILD_sw26010-pro_HOST_FLAGS -mhost -mieee)
set(SWBUILD_sw26010-pro_SLAVE_FLAGS -mslave -msimd -mieee -ffp-contract=off -std=gnu99)
set(SWBUILD_sw26010-pro_LINK_FLAGS -mhybrid)
set(SWBUILD_sw26010-pro_LIBRARIES m_slave m)

# What slave code is optimised with in every configuration: unoptimised, it is of no use to anyone.
set(SWBUILD_SLAVE_OPTIMISE -O2)
# What generated host code is compiled with unless the target has a C_STANDARD of its own.
set(SWBUILD_HOST_STANDARD -std=gnu99)
# What keeps compilers silent about '#pragma scop' where the user's sources are compiled as they are; a compiler
# that does not know it gets another, or none: -DSWBUILD_PRAGMA_FLAGS=
if(NOT DEFINED SWBUILD_PRAGMA_FLAGS)
  set(SWBUILD_PRAGMA_FLAGS -Wno-unknown-pragmas)
endif()
