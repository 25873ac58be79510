// Address space that the host's BLAS takes without asking.
#pragma once

namespace heddle::driver {

/// Have OpenBLAS take the buffers of its calls now if this process has a limit of address space (`ulimit -v`): without
/// room for one, OpenBLAS tries forever. Throw Error(memory) without room for these and for what MPI starts with. A
/// process without room for what OpenBLAS starts with ends before main(), with one line and exit code 1.
void reserve_blas_buffers();

}  // namespace heddle::driver
