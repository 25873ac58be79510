// A driver of HDF5 (its "virtual file layer") for files whose writing may fail.
#pragma once

#include "io/matrix/hdf5_handle.hpp"

namespace heddle::impl {

/// Properties for H5Fcreate() or H5Fopen() of a file that is opened by this driver. The first failure to write leaves
/// its errno in `failure`, which must be 0 and outlive the file; to HDF5 that write and all after it succeed.
[[nodiscard]] Hdf5Properties hdf5_output_properties(int& failure);

}  // namespace heddle::impl
