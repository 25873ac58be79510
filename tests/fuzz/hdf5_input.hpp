// Files for the harness of HDF5 matrices. The HDF5 library believes what a damaged file says of itself, and versions up
// to 1.14 at least crash of it within seconds of fuzzing, before our reader sees a thing. So bytes do not become a file
// but say what the library is to put into one: any shape, type, layout or kind of object, all of it well formed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle::test {

/// Writes the file; where the library will not make what the bytes ask for, the file lacks it.
void write_hdf5_input(const std::string& path, const std::uint8_t* data, std::size_t size);

}  // namespace heddle::test
