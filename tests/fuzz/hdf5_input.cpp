// Input files for the fuzzing harness of HDF5 matrices.
#include "hdf5_input.hpp"

#include "io/matrix/hdf5_handle.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace heddle::test {

namespace {

using impl::Hdf5Dataset;
using impl::Hdf5Properties;
using impl::Hdf5Space;
using impl::Hdf5Type;
using Hdf5Group = impl::Hdf5Handle<H5Gclose>;

// The input, byte after byte, then zeros.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  std::uint8_t next() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  unsigned next(unsigned choices) { return next() % choices; }
  std::uint64_t word() {
    std::uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word = word << 8U | next();
    return word;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

Hdf5Type number_type(Bytes& bytes) {
  const std::array<hid_t, 16> integers = {H5T_STD_I8LE,  H5T_STD_I8BE,  H5T_STD_I16LE, H5T_STD_I16BE,
                                          H5T_STD_I32LE, H5T_STD_I32BE, H5T_STD_I64LE, H5T_STD_I64BE,
                                          H5T_STD_U8LE,  H5T_STD_U8BE,  H5T_STD_U16LE, H5T_STD_U16BE,
                                          H5T_STD_U32LE, H5T_STD_U32BE, H5T_STD_U64LE, H5T_STD_U64BE};
  const std::array<hid_t, 5> reals = {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE,
                                      H5T_NATIVE_LDOUBLE};
  const bool real = bytes.next(2) == 1;
  Hdf5Type type(H5Tcopy(real ? reals[bytes.next(5)] : integers[bytes.next(16)]));
  if (const unsigned precision = bytes.next(70); !real && precision > 0) {
    H5Tset_precision(type.get(), precision);
    H5Tset_offset(type.get(), bytes.next(8));
  }
  return type;
}

// `plain`: any bytes are a value of it.
Hdf5Type any_type(Bytes& bytes, int depth, bool& plain) {
  const unsigned kind = bytes.next(12);
  if (kind < 5 || depth > 2) return number_type(bytes);
  if (kind < 8) {
    constexpr std::size_t each = 32;
    constexpr std::array<const char*, 4> names = {"r", "i", "x", "r"};
    const unsigned members = bytes.next(4);
    Hdf5Type type(H5Tcreate(H5T_COMPOUND, each * std::max(1U, members)));
    for (unsigned member = 0; member < members; ++member) {
      const Hdf5Type inner = any_type(bytes, depth + 1, plain);
      H5Tinsert(type.get(), names[(member + bytes.next(2)) % names.size()], each * member, inner.get());
    }
    return type;
  }
  if (kind == 8) {
    const Hdf5Type inner = number_type(bytes);
    const std::array<hsize_t, 1> extent = {1U + bytes.next(3)};
    return Hdf5Type(H5Tarray_create2(inner.get(), 1, extent.data()));
  }
  if (kind == 9) return Hdf5Type(H5Tcopy(H5T_STD_B32LE));
  if (kind == 10) {
    plain = false;
    const Hdf5Type inner = number_type(bytes);
    return Hdf5Type(bytes.next(2) == 1 ? H5Tvlen_create(inner.get()) : H5Tcopy(H5T_STD_REF_OBJ));
  }
  Hdf5Type type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), 1U + bytes.next(9));
  return type;
}

Hdf5Space any_space(Bytes& bytes, std::vector<hsize_t>& extents) {
  const unsigned kind = bytes.next(12);
  if (kind == 0) return Hdf5Space(H5Screate(H5S_NULL));
  extents.resize(kind < 9 ? 2 : kind - 9);
  for (hsize_t& extent : extents) extent = bytes.next(8) == 0 ? bytes.word() : bytes.next(12);
  return Hdf5Space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr));
}

Hdf5Properties any_layout(Bytes& bytes, const std::vector<hsize_t>& extents) {
  Hdf5Properties properties(H5Pcreate(H5P_DATASET_CREATE));
  const unsigned kind = bytes.next(4);
  if (kind == 0) H5Pset_layout(properties.get(), H5D_COMPACT);
  if (kind < 2 || extents.empty()) return properties;
  std::vector<hsize_t> chunk(extents.size());
  for (hsize_t& extent : chunk) extent = 1U + bytes.next(5);
  H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data());
  if (bytes.next(2) == 1) H5Pset_shuffle(properties.get());
  if (bytes.next(2) == 1) H5Pset_deflate(properties.get(), 1);
  if (bytes.next(2) == 1) H5Pset_fletcher32(properties.get());
  return properties;
}

void make_dataset(hid_t file, Bytes& bytes) {
  bool plain = true;
  const Hdf5Type type = any_type(bytes, 0, plain);
  std::vector<hsize_t> extents;
  const Hdf5Space space = any_space(bytes, extents);
  const Hdf5Properties layout = any_layout(bytes, extents);
  const Hdf5Dataset set(H5Dcreate2(file, "matrix", type.get(), space.get(), H5P_DEFAULT, layout.get(), H5P_DEFAULT));
  constexpr hssize_t most = 1024;
  const hssize_t values = H5Sget_simple_extent_npoints(space.get());
  if (!set || !plain || values < 1 || values > most || bytes.next(4) == 0) return;
  std::vector<std::uint8_t> data(static_cast<std::size_t>(values) * H5Tget_size(type.get()));
  std::generate(data.begin(), data.end(), [&] { return bytes.next(); });
  H5Dwrite(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data());
}

}  // namespace

void write_hdf5_input(const std::string& path, const std::uint8_t* data, std::size_t size) {
  const impl::Hdf5Quiet quiet;
  Bytes bytes(data, size);
  const Hdf5Properties access(H5Pcreate(H5P_FILE_ACCESS));
  if (bytes.next(2) == 1) H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  const impl::Hdf5File file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
  switch (bytes.next(16)) {
    case 0:
      static_cast<void>(Hdf5Group(H5Gcreate2(file.get(), "matrix", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
      return;
    case 1:
      H5Lcreate_soft(bytes.next(2) == 1 ? "/matrix" : "/other", file.get(), "matrix", H5P_DEFAULT, H5P_DEFAULT);
      return;
    case 2: {
      const Hdf5Type type = number_type(bytes);
      H5Tcommit2(file.get(), "matrix", type.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      return;
    }
    case 3:
      H5Lcreate_external(path.c_str(), "/matrix", file.get(), "matrix", H5P_DEFAULT, H5P_DEFAULT);
      return;
    default:
      make_dataset(file.get(), bytes);
  }
}

}  // namespace heddle::test
