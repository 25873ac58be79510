// Reader and writer of matrices in HDF5 files.
#include "core/instantiate.hpp"
#include "io/matrix/hdf5_handle.hpp"
#include "io/matrix/panels.hpp"
#include "io/matrix/whole_numbers.hpp"
#include <heddle/io/hdf5.hpp>
#include <heddle/io/pending_hdf5.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

namespace heddle {

namespace impl {

std::string hdf5_reason() {
  std::string reason = "unknown";
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned position, const H5E_error2_t* error, void* text) -> herr_t {
        if (position == 0 && error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
        return 0;
      },
      &reason);
  for (char& character : reason) {
    if (character == '\n') character = ' ';
  }
  return reason;
}

}  // namespace impl

namespace {

template <RealScalar T> hid_t native_type() {
  if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
  return H5T_NATIVE_DOUBLE;
}

// Names of the parts of a complex number: by h5py, by MATLAB, by others.
using ComplexNames = std::array<const char*, 2>;
constexpr std::array<ComplexNames, 3> complex_names = {{{"r", "i"}, {"real", "imag"}, {"re", "im"}}};

// How T looks in memory; HDF5 finds the parts of a complex number by their names.
template <Scalar T> impl::Hdf5Type memory_type(const ComplexNames& names = complex_names.front()) {
  if constexpr (is_complex<T>) {
    impl::Hdf5Type type(H5Tcreate(H5T_COMPOUND, sizeof(T)));
    H5Tinsert(type.get(), names[0], 0, native_type<Real<T>>());
    H5Tinsert(type.get(), names[1], sizeof(Real<T>), native_type<Real<T>>());
    return type;
  } else {
    return impl::Hdf5Type(H5Tcopy(native_type<T>()));
  }
}

// Those that a type has; null for one of no complex numbers.
const ComplexNames* complex_names_of(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return nullptr;
  const auto has = [&](const char* name) {
    const int index = H5Tget_member_index(type, name);
    return index >= 0 && H5Tget_member_class(type, static_cast<unsigned>(index)) == H5T_FLOAT;
  };
  const auto* const found = std::find_if(complex_names.begin(), complex_names.end(),
                                         [&](const ComplexNames& names) { return has(names[0]) && has(names[1]); });
  return found == complex_names.end() ? nullptr : found;
}

// Whether it is of truth values, as h5py has them: an enumeration of FALSE and TRUE.
bool is_truth_type(hid_t type) {
  if (H5Tget_class(type) != H5T_ENUM || H5Tget_nmembers(type) != 2) return false;
  const impl::Hdf5Type whole(H5Tget_super(type));
  const impl::Hdf5Type number(H5Tcopy(H5T_NATIVE_INT64));
  for (const auto& [name, expected] : {std::pair("FALSE", std::int64_t{0}), std::pair("TRUE", std::int64_t{1})}) {
    std::int64_t value = 0;
    const bool fits = H5Tget_size(type) <= sizeof(value) && H5Tenum_valueof(type, name, &value) >= 0;
    if (!fits || H5Tconvert(whole.get(), number.get(), 1, &value, nullptr, H5P_DEFAULT) < 0 || value != expected) {
      return false;
    }
  }
  return true;
}

// Whether HDF5 can give its elements as integers of 64 bits without a change.
bool is_whole_type(hid_t type) {
  return is_truth_type(type) || (H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) <= sizeof(std::int64_t));
}

using Extents = std::array<hsize_t, 2>;

// Selects the columns of a panel in the file's space. HDF5 stores rows together, our panels columns: a panel passes
// through one buffer that is transposed.
void select_columns(hid_t space, Index rows, Range columns) {
  const Extents start = {0, static_cast<hsize_t>(columns.begin)};
  const Extents count = {static_cast<hsize_t>(rows), static_cast<hsize_t>(columns.size())};
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
}

impl::Hdf5Space panel_space(Index rows, Index columns) {
  const Extents extents = {static_cast<hsize_t>(rows), static_cast<hsize_t>(columns)};
  return impl::Hdf5Space(H5Screate_simple(2, extents.data(), nullptr));
}

template <class T> using RowMajor = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

template <class T> RowMajor<T> row_major(Index rows, Index columns) {
  return RowMajor<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::io::rows"), rows, columns);
}

// to = from, in squares that stay in cache.
template <class To, class From> void copy_blocked(const To& to, const From& from) {
  constexpr Index block = 32;
  const auto rows = static_cast<Index>(to.extent(0));
  const auto columns = static_cast<Index>(to.extent(1));
  for (Index row = 0; row < rows; row += block) {
    for (Index column = 0; column < columns; column += block) {
      for (Index j = column; j < std::min(column + block, columns); ++j) {
        for (Index i = row; i < std::min(row + block, rows); ++i) to(i, j) = from(i, j);
      }
    }
  }
}

bool is_number(hid_t type) {
  return H5Tget_class(type) == H5T_FLOAT || is_whole_type(type) || complex_names_of(type) != nullptr;
}

// Properties for opening objects of a file, by which links into other files fail; `target` is then the other file.
impl::Hdf5Properties inside_file(std::string& target) {
  impl::Hdf5Properties properties(H5Pcreate(H5P_DATASET_ACCESS));
  const auto refuse = [](const char*, const char*, const char* file, const char*, unsigned*, hid_t,
                         void* target) -> herr_t {
    *static_cast<std::string*>(target) = file;
    return -1;
  };
  H5Pset_elink_cb(properties.get(), refuse, &target);
  return properties;
}

// Return the reason why a dataset has no elements in its own file; empty if it has. Opens no other file.
std::string elements_elsewhere(hid_t dataset) {
  const impl::Hdf5Properties properties(H5Dget_create_plist(dataset));
  if (H5Pget_layout(properties.get()) == H5D_VIRTUAL) return "is a virtual dataset, whose elements are in others";
  if (H5Pget_external_count(properties.get()) == 0) return {};
  std::array<char, 256> name{};
  H5Pget_external(properties.get(), 0, name.size() - 1, name.data(), nullptr, nullptr);
  return std::string("has its elements in another file, '") + name.data() + "'";
}

// The matrices of a file, for the message that another one is not there.
std::string what_there_is(hid_t file, const std::string& path) {
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  const auto visit = [](hid_t group, const char* name, const H5L_info_t*, void* all) -> herr_t {
    auto& found = *static_cast<std::vector<std::string>*>(all);
    std::string elsewhere;
    const impl::Hdf5Properties inside = inside_file(elsewhere);
    const impl::Hdf5Handle<H5Oclose> object(H5Oopen(group, name, inside.get()));
    if (!object || H5Iget_type(object.get()) != H5I_DATASET || !elements_elsewhere(object.get()).empty()) return 0;
    const impl::Hdf5Space space(H5Dget_space(object.get()));
    const impl::Hdf5Type type(H5Dget_type(object.get()));
    if (H5Sget_simple_extent_ndims(space.get()) == 2 && is_number(type.get())) found.emplace_back(name);
    return found.size() > most ? 1 : 0;
  };
  H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, visit, &names);
  if (names.empty()) return "the file has no numeric dataset of two dimensions";
  std::string all;
  for (std::size_t k = 0; k < std::min(most, names.size()); ++k) all += (k == 0 ? "" : ", ") + names[k];
  return "write " + path + ":NAME, where NAME is one of: " + all + (names.size() > most ? ", ..." : "");
}

// A dataset opened for reading; on rank 0 alone.
class Hdf5Reader {
 public:
  Hdf5Reader(const std::filesystem::path& path, const std::string& dataset, impl::WholeNumbers* whole = nullptr)
      : name_(path.string()), whole_(whole) {
    impl::require_readable(path);
    const impl::Hdf5Quiet quiet;
    file_ = impl::Hdf5File(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    if (!file_) refuse("can't be read as HDF5: " + impl::hdf5_reason());
    name_ += ", dataset '" + dataset + "'";
    // The writer of a file must not choose which other files are read.
    std::string elsewhere;
    const impl::Hdf5Properties inside = inside_file(elsewhere);
    dataset_ = impl::Hdf5Dataset(H5Dopen2(file_.get(), dataset.c_str(), inside.get()));
    if (!elsewhere.empty()) refuse("is behind a link to another file, '" + elsewhere + "'; name that one");
    if (dataset_) elsewhere = elements_elsewhere(dataset_.get());
    if (!elsewhere.empty()) refuse(elsewhere + "; expected a file that holds its elements itself");
    if (!dataset_) {
      const std::string reason = impl::hdf5_reason();
      refuse("can't be opened: " + reason + "; " + what_there_is(file_.get(), path.string()));
    }
    const impl::Hdf5Space space(H5Dget_space(dataset_.get()));
    const int rank = H5Sget_simple_extent_ndims(space.get());
    if (rank != 1 && rank != 2) refuse(message_of("has ", rank, " dimensions, where a matrix has 2 and a vector 1"));
    Extents extents = {1, 1};
    vector_ = rank == 1;
    H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
    const impl::Hdf5Type type(H5Dget_type(dataset_.get()));
    if (!is_number(type.get())) {
      refuse(
          "holds neither real numbers nor complex ones; expected floating-point numbers, integers of up to 64 bits, "
          "truth "
          "values, or a compound of two floating-point members r and i, real and imag, or re and im");
    }
    names_ = complex_names_of(type.get());
    integers_ = is_whole_type(type.get());
    unsigned_ = H5Tget_class(type.get()) == H5T_INTEGER && H5Tget_sign(type.get()) == H5T_SGN_NONE;
    // The file may be far smaller than the matrix if the dataset is packed or not filled.
    constexpr hsize_t largest = std::numeric_limits<Index>::max() / 64;
    if (extents[0] > largest || extents[1] > largest || (extents[1] > 0 && extents[0] > largest / extents[1])) {
      refuse(message_of("has ", extents[0], " x ", extents[1], " elements, too many for a matrix"));
    }
    info_ = {static_cast<Index>(extents[0]), static_cast<Index>(extents[1]), names_ != nullptr};
  }

  [[nodiscard]] const MatrixFileInfo& info() const { return info_; }

  template <Scalar T> void read_columns(Range columns, const HostMatrix<T>& panel) {
    if (info_.rows == 0) return;
    if (integers_ && unsigned_) return read_integers<std::uint64_t>(H5T_NATIVE_UINT64, columns, panel);
    if (integers_) return read_integers<std::int64_t>(H5T_NATIVE_INT64, columns, panel);
    if constexpr (is_complex<T>) {
      if (info_.complex) {
        return copy_blocked(panel, read_as<T>(memory_type<T>(*names_).get(), columns));
      }
    }
    copy_blocked(panel, read_as<Real<T>>(memory_type<Real<T>>().get(), columns));
  }

 private:
  // The columns, of a type that HDF5 knows as `type`.
  template <class Stored> RowMajor<Stored> read_as(hid_t type, Range columns) {
    const impl::Hdf5Quiet quiet;
    const auto rows = row_major<Stored>(info_.rows, columns.size());
    const impl::Hdf5Space file_space(H5Dget_space(dataset_.get()));
    if (!vector_) select_columns(file_space.get(), info_.rows, columns);
    const auto memory_space = panel_space(info_.rows, columns.size());
    if (H5Dread(dataset_.get(), type, memory_space.get(), file_space.get(), H5P_DEFAULT, rows.data()) < 0) {
      refuse("can't be read: " + impl::hdf5_reason());
    }
    return rows;
  }
  template <std::integral Stored, Scalar T> void read_integers(hid_t type, Range columns, const HostMatrix<T>& panel) {
    const auto rows = read_as<Stored>(type, columns);
    for (Index j = 0; j < columns.size(); ++j) {
      for (Index i = 0; i < info_.rows; ++i) {
        const auto value = impl::element_of<Real<T>>(rows(i, j), *whole_);
        if (!value) {
          refuse(message_of("element (", i + 1, ", ", columns.begin + j + 1, ") is ", rows(i, j),
                            ", an integer that no ", impl::name_of_real<Real<T>>(), " equals"));
        }
        panel(i, j) = T(*value);
      }
    }
  }
  [[noreturn]] void refuse(const std::string& reason) const {
    throw Error(ErrorKind::input, message_of(name_, ": ", reason));
  }

  std::string name_;
  impl::Hdf5File file_;
  impl::Hdf5Dataset dataset_;
  impl::WholeNumbers* whole_;
  const ComplexNames* names_ = nullptr;  // Of the parts of complex elements.
  bool integers_ = false;
  bool unsigned_ = false;
  bool vector_ = false;  // Of one dimension, and all of it selected.
  MatrixFileInfo info_;
};

// Text, in place of an attribute of that name.
bool write_attribute(hid_t object, const std::string& name, const std::string& value) {
  const impl::Hdf5Type type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  const impl::Hdf5Space space(H5Screate(H5S_SCALAR));
  if (H5Aexists(object, name.c_str()) > 0) H5Adelete(object, name.c_str());
  const impl::Hdf5Handle<H5Aclose> attribute(
      H5Acreate2(object, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT));
  const char* const text = value.c_str();
  return attribute && H5Awrite(attribute.get(), type.get(), &text) >= 0;
}

// Whether there is a link of that name; HDF5 wants to be asked for each group on the way.
bool has_link(hid_t file, const std::string& name, hid_t access) {
  for (std::size_t slash = name.find('/', 1);; slash = name.find('/', slash + 1)) {
    if (H5Lexists(file, name.substr(0, slash).c_str(), access) <= 0) return false;
    if (slash == std::string::npos) return true;
  }
}

// A file with a new dataset; on rank 0 alone.
template <Scalar T> class Hdf5Writer {
 public:
  Hdf5Writer(const std::filesystem::path& path, const MatrixFileOptions& options, Index rows, Index columns)
      : name_(path.string()), rows_(rows), file_(path, options.keep_others) {
    const impl::Hdf5Quiet quiet;
    const impl::Hdf5Properties links(H5Pcreate(H5P_LINK_CREATE));
    H5Pset_create_intermediate_group(links.get(), 1);
    const auto space = panel_space(rows, columns);
    const auto type = memory_type<T>();
    std::string elsewhere;
    const impl::Hdf5Properties inside = inside_file(elsewhere);
    const bool replaces = has_link(file_.id(), options.dataset, inside.get());
    impl::Hdf5Dataset old;
    if (replaces) old = impl::Hdf5Dataset(H5Dopen2(file_.id(), options.dataset.c_str(), inside.get()));
    if (!elsewhere.empty()) {
      throw Error(ErrorKind::output, message_of(name_, ": can't be written: '", options.dataset,
                                                "' is behind a link to another file, '", elsewhere, "'"));
    }
    if (replaces) {
      if (!old) {
        throw Error(ErrorKind::output, message_of(name_, ": can't be written: '", options.dataset, "' is no dataset"));
      }
      old.reset();
      require_done(H5Ldelete(file_.id(), options.dataset.c_str(), inside.get()) >= 0);
    }
    dataset_ = impl::Hdf5Dataset(H5Dcreate2(file_.id(), options.dataset.c_str(), type.get(), space.get(), links.get(),
                                            H5P_DEFAULT, inside.get()));
    require_done(static_cast<bool>(dataset_));
    for (const auto& [name, value] : options.attributes) {
      require_done(write_attribute(file_.id(), name, value) && write_attribute(dataset_.get(), name, value));
    }
  }

  void write_columns(Range columns, const HostMatrix<T>& panel) {
    if (rows_ == 0) return;
    const impl::Hdf5Quiet quiet;
    const auto rows = row_major<T>(rows_, columns.size());
    copy_blocked(rows, panel);
    const impl::Hdf5Space file_space(H5Dget_space(dataset_.get()));
    select_columns(file_space.get(), rows_, columns);
    const auto memory_space = panel_space(rows_, columns.size());
    const auto type = memory_type<T>();
    require_done(H5Dwrite(dataset_.get(), type.get(), memory_space.get(), file_space.get(), H5P_DEFAULT, rows.data()) >=
                 0);
  }

  void finish() {
    const impl::Hdf5Quiet quiet;
    require_done(dataset_.reset());
    file_.commit();
  }

 private:
  void require_done(bool done) const {
    file_.require_written();
    if (!done) throw Error(ErrorKind::output, message_of(name_, ": can't be written: ", impl::hdf5_reason()));
  }

  std::string name_;
  Index rows_;
  PendingHdf5 file_;
  impl::Hdf5Dataset dataset_;
};

}  // namespace

template <Scalar T>
DistributedMatrix<T> impl::read_hdf5(const Communicator& comm, const std::filesystem::path& path,
                                     const PlacementChoice& place, const std::string& dataset, WholeNumbers& whole) {
  return read_by_panels<T, Hdf5Reader>(comm, path, place, dataset, &whole);
}

template <Scalar T>
DistributedMatrix<T> read_hdf5(const Communicator& comm, const std::filesystem::path& path,
                               const PlacementChoice& place, const std::string& dataset) {
  impl::WholeNumbers whole;
  return impl::read_hdf5<T>(comm, path, place, dataset, whole);
}

MatrixFileInfo hdf5_info(const Communicator& comm, const std::filesystem::path& path, const std::string& dataset) {
  MatrixFileInfo info;
  comm.on_rank(0, [&] { info = Hdf5Reader(path, dataset).info(); });
  return impl::broadcast_info(comm, info);
}

template <Scalar T>
void write_hdf5(const std::filesystem::path& path, const DistributedMatrix<T>& A, const MatrixFileOptions& options) {
  const Communicator& comm = A.communicator();
  std::optional<Hdf5Writer<T>> writer;
  comm.on_rank(0, [&] { writer.emplace(path, options, A.rows(), A.columns()); });
  impl::gather_panels(A, [&](Range columns, const HostMatrix<T>& panel) { writer->write_columns(columns, panel); });
  comm.on_rank(0, [&] { writer->finish(); });
}

#define HEDDLE_INSTANTIATE(T)                                                                                        \
  template DistributedMatrix<T> impl::read_hdf5(const Communicator&, const std::filesystem::path&,                   \
                                                const PlacementChoice&, const std::string&, WholeNumbers&);          \
  template DistributedMatrix<T> read_hdf5(const Communicator&, const std::filesystem::path&, const PlacementChoice&, \
                                          const std::string&);                                                       \
  template void write_hdf5(const std::filesystem::path&, const DistributedMatrix<T>&, const MatrixFileOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
