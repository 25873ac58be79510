// HDF5 files of runs: arrays with units, and attributes.
#include "drivers/tdse/record/hdf5.hpp"

#include <heddle/core/error.hpp>

#include <algorithm>
#include <utility>

namespace heddle::driver {

namespace {

// Turn off HDF5's printed error stack; exceptions report failures in one line.
void be_quiet() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

template <class T> Hdf5Handle memory_type() {
  if constexpr (std::is_same_v<T, double>) {
    return {H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose};
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return {H5Tcopy(H5T_NATIVE_INT64), H5Tclose};
  } else {
    // Layout of NumPy's complex numbers in h5py.
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(std::complex<double>));
    H5Tinsert(type, "r", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "i", sizeof(double), H5T_NATIVE_DOUBLE);
    return {type, H5Tclose};
  }
}

Hdf5Handle text_type() {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return {type, H5Tclose};
}

}  // namespace

Hdf5Writer::Hdf5Writer(const std::filesystem::path& path) : name_(path.string()), file_(path) {
  be_quiet();
}

void Hdf5Writer::fail(const std::string& what) const {
  file_.require_written();
  throw Error(ErrorKind::output, name_ + ": " + what);
}

template <class T>
void Hdf5Writer::write(const std::string& name, const std::vector<hsize_t>& extents, std::span<const T> values,
                       const std::string& unit, const std::string& description) {
  hsize_t size = 1;
  for (const hsize_t extent : extents) size *= extent;
  require(size == values.size(), name, ": ", values.size(), " values for ", size, " places");
  const Hdf5Handle type = memory_type<T>();
  const Hdf5Handle space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose);
  const Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.id(), 1);
  const Hdf5Handle dataset(
      H5Dcreate2(file_.id(), name.c_str(), type.id(), space.id(), links.id(), H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  if (!dataset.valid() ||
      (size > 0 && H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)) {
    fail("dataset " + name + " could not be written");
  }
  attribute(dataset.id(), "unit", unit);
  attribute(dataset.id(), "description", description);
  // Fail early: further datasets would be lost.
  file_.require_written();
}

void Hdf5Writer::attribute(hid_t object, const std::string& name, const std::string& value) const {
  const Hdf5Handle type = text_type();
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle attribute(H5Acreate2(object, name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
                             H5Aclose);
  const char* text = value.c_str();
  if (!attribute.valid() || H5Awrite(attribute.id(), type.id(), &text) < 0) {
    fail("attribute " + name + " could not be written");
  }
}

void Hdf5Writer::attribute(const std::string& name, const std::string& value) {
  attribute(file_.id(), name, value);
}

void Hdf5Writer::attribute(const std::string& name, std::int64_t value) {
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle attribute(
      H5Acreate2(file_.id(), name.c_str(), H5T_NATIVE_INT64, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (!attribute.valid() || H5Awrite(attribute.id(), H5T_NATIVE_INT64, &value) < 0) {
    fail("attribute " + name + " could not be written");
  }
}

void Hdf5Writer::commit() {
  file_.commit();
}

Hdf5Reader::Hdf5Reader(const std::filesystem::path& path)
    : name_(path.string()), file_((be_quiet(), H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)), H5Fclose) {
  if (file_.valid()) {
    require_whole();
    return;
  }
  std::error_code error;
  if (!std::filesystem::exists(path, error)) fail("there is no such file");
  if (std::filesystem::is_directory(path, error)) fail("is a folder, not a file");
  fail("is not a readable HDF5 file (truncated, or of another kind)");
}

void Hdf5Reader::require_whole() const {
  std::string reason;
  const auto visit = [](hid_t file, const char* name, const H5L_info_t* link, void* found) -> herr_t {
    auto& reason = *static_cast<std::string*>(found);
    const auto refuse = [&](const char* what) {
      reason = std::string("/") + name + ' ' + what + "; expected a file that holds all its data itself";
      return 1;
    };
    // Targets of soft links are in this file, or behind a link that is visited itself.
    if (link->type == H5L_TYPE_SOFT) return 0;
    if (link->type != H5L_TYPE_HARD) return refuse("is a link to another file");
    const Hdf5Handle object(H5Oopen(file, name, H5P_DEFAULT), H5Oclose);
    if (!object.valid() || H5Iget_type(object.id()) != H5I_DATASET) return 0;
    const Hdf5Handle properties(H5Dget_create_plist(object.id()), H5Pclose);
    if (H5Pget_layout(properties.id()) == H5D_VIRTUAL) return refuse("is a virtual dataset");
    return H5Pget_external_count(properties.id()) == 0 ? 0 : refuse("has its elements in another file");
  };
  if (H5Lvisit(file_.id(), H5_INDEX_NAME, H5_ITER_INC, visit, &reason) < 0) fail("its datasets could not be listed");
  if (!reason.empty()) fail("dataset " + reason);
}

void Hdf5Reader::fail(const std::string& what) const {
  throw Error(ErrorKind::input, name_ + ": " + what);
}

Hdf5Handle Hdf5Reader::open(const std::string& name) const {
  const hid_t id = has(name) ? H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT) : -1;
  if (id < 0) fail("has no dataset " + name + "; expected a file that `heddle tdse` wrote");
  return {id, H5Dclose};
}

bool Hdf5Reader::has(const std::string& name) const {
  for (std::size_t slash = name.find('/', 1);; slash = name.find('/', slash + 1)) {
    if (H5Lexists(file_.id(), name.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
    if (slash == std::string::npos) return true;
  }
}

std::vector<hsize_t> Hdf5Reader::extents(const std::string& name) const {
  const Hdf5Handle dataset = open(name);
  const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.id());
  if (rank < 0) fail("dataset " + name + " has no extents");
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr);
  return extents;
}

template <class T> std::vector<T> Hdf5Reader::read(const std::string& name) const {
  hsize_t size = 1;
  for (const hsize_t extent : extents(name)) size *= extent;
  const Hdf5Handle dataset = open(name);
  if (size > 0 && H5Dget_storage_size(dataset.id()) == 0) fail("dataset " + name + " was never written");
  std::vector<T> values(size);
  const Hdf5Handle type = memory_type<T>();
  if (size > 0 && H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
    fail("dataset " + name + " could not be read");
  }
  return values;
}

std::vector<std::string> Hdf5Reader::datasets() const {
  std::vector<std::string> names;
  const auto visit = [](hid_t file, const char* name, const H5L_info_t*, void* all) -> herr_t {
    const Hdf5Handle object(H5Oopen(file, name, H5P_DEFAULT), H5Oclose);
    if (object.valid() && H5Iget_type(object.id()) == H5I_DATASET) {
      static_cast<std::vector<std::string>*>(all)->push_back(std::string("/") + name);
    }
    return 0;
  };
  if (H5Lvisit(file_.id(), H5_INDEX_NAME, H5_ITER_INC, visit, &names) < 0) fail("its datasets could not be listed");
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::byte> Hdf5Reader::bytes(const std::string& name) const {
  const Hdf5Handle dataset = open(name);
  const Hdf5Handle stored(H5Dget_type(dataset.id()), H5Tclose);
  const Hdf5Handle type(H5Tget_native_type(stored.id(), H5T_DIR_ASCEND), H5Tclose);
  hsize_t size = 1;
  for (const hsize_t extent : extents(name)) size *= extent;
  std::vector<std::byte> values(type.valid() ? size * H5Tget_size(type.id()) : 0);
  if (!type.valid() ||
      (size > 0 && H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)) {
    fail("dataset " + name + " could not be read");
  }
  return values;
}

bool Hdf5Reader::has_attribute(const std::string& name) const {
  return H5Aexists(file_.id(), name.c_str()) > 0;
}

std::string Hdf5Reader::text_attribute(const std::string& name) const {
  const Hdf5Handle attribute(H5Aopen(file_.id(), name.c_str(), H5P_DEFAULT), H5Aclose);
  const Hdf5Handle type = text_type();
  char* text = nullptr;
  if (!attribute.valid() || H5Aread(attribute.id(), type.id(), &text) < 0 || text == nullptr) {
    fail("has no attribute " + name + "; expected a file that `heddle tdse` wrote");
  }
  std::string value(text);
  H5free_memory(text);
  return value;
}

std::int64_t Hdf5Reader::integer_attribute(const std::string& name) const {
  const Hdf5Handle attribute(H5Aopen(file_.id(), name.c_str(), H5P_DEFAULT), H5Aclose);
  std::int64_t value = 0;
  if (!attribute.valid() || H5Aread(attribute.id(), H5T_NATIVE_INT64, &value) < 0) {
    fail("has no attribute " + name + "; expected a file that `heddle tdse` wrote");
  }
  return value;
}

template void Hdf5Writer::write<double>(const std::string&, const std::vector<hsize_t>&, std::span<const double>,
                                        const std::string&, const std::string&);
template void Hdf5Writer::write<std::int64_t>(const std::string&, const std::vector<hsize_t>&,
                                              std::span<const std::int64_t>, const std::string&, const std::string&);
template void Hdf5Writer::write<std::complex<double>>(const std::string&, const std::vector<hsize_t>&,
                                                      std::span<const std::complex<double>>, const std::string&,
                                                      const std::string&);
template std::vector<double> Hdf5Reader::read<double>(const std::string&) const;
template std::vector<std::int64_t> Hdf5Reader::read<std::int64_t>(const std::string&) const;
template std::vector<std::complex<double>> Hdf5Reader::read<std::complex<double>>(const std::string&) const;

}  // namespace heddle::driver
