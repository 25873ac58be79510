// Reader and writer of NumPy's .npy files.
#include "core/instantiate.hpp"
#include "io/matrix/npy_header.hpp"
#include "io/matrix/panels.hpp"
#include "io/matrix/whole_numbers.hpp"
#include <heddle/core/pending_file.hpp>
#include <heddle/io/npy.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <type_traits>
#include <vector>

namespace heddle {

namespace {

using impl::NpyHeader;
using impl::NpyKind;

// A number of `Stored` as it lies in memory, perhaps in the other byte order.
template <class Stored> Stored number_at(const char* bytes, bool swapped) {
  char copy[sizeof(Stored)];
  std::memcpy(copy, bytes, sizeof(Stored));
  if (swapped) std::reverse(std::begin(copy), std::end(copy));
  Stored value;
  std::memcpy(&value, copy, sizeof(Stored));
  return value;
}

// IEEE 754's binary16.
double half_at(const char* bytes, bool swapped) {
  const auto bits = number_at<std::uint16_t>(bytes, swapped);
  const int exponent = (bits >> 10U) & 31U;
  const int fraction = bits & 1023U;
  const double sign = (bits >> 15U) != 0 ? -1.0 : 1.0;
  if (exponent == 31) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

double real_at(const char* bytes, std::size_t size, bool swapped) {
  if (size == 2) return half_at(bytes, swapped);
  return size == 4 ? number_at<float>(bytes, swapped) : number_at<double>(bytes, swapped);
}

// An integer as an element.
template <RealScalar T>
std::optional<T> integer_at(const char* bytes, const NpyHeader& header, impl::WholeNumbers& whole) {
  const auto element = [&]<class Signed, class Unsigned>(Signed, Unsigned) {
    return header.kind == NpyKind::whole ? impl::element_of<T>(number_at<Signed>(bytes, header.swapped), whole)
                                         : impl::element_of<T>(number_at<Unsigned>(bytes, header.swapped), whole);
  };
  switch (header.bytes_each) {
    case 1:
      return element(std::int8_t{}, std::uint8_t{});
    case 2:
      return element(std::int16_t{}, std::uint16_t{});
    case 4:
      return element(std::int32_t{}, std::uint32_t{});
    default:
      return element(std::int64_t{}, std::uint64_t{});
  }
}

// Panels of an array; on rank 0 alone.
class NpyReader {
 public:
  explicit NpyReader(const std::filesystem::path& path, impl::WholeNumbers* whole = nullptr)
      : name_(path.string()), header_(impl::read_npy_header(path)), file_(path, std::ios::binary), whole_(whole) {}

  [[nodiscard]] MatrixFileInfo info() const {
    return {header_.rows, header_.columns, header_.kind == NpyKind::complex};
  }

  template <Scalar T> void read_columns(Range columns, const HostMatrix<T>& panel) {
    const Index lines = header_.by_columns ? columns.size() : header_.rows;
    const Index length = header_.by_columns ? header_.rows : columns.size();
    // Contiguous parts of the file are columns of the panel, or its part of each row.
    for (Index line = 0; line < lines; ++line) {
      const Index first =
          header_.by_columns ? (columns.begin + line) * header_.rows : line * header_.columns + columns.begin;
      read(first, length);
      for (Index k = 0; k < length; ++k) {
        const Index row = header_.by_columns ? k : line;
        const Index column = header_.by_columns ? line : k;
        panel(row, column) = element<T>(k, row, columns.begin + column);
      }
    }
  }

 private:
  void read(Index first, Index count) {
    bytes_.resize(static_cast<std::size_t>(count) * header_.bytes_each);
    file_.seekg(static_cast<std::streamoff>(header_.data + static_cast<std::uint64_t>(first) * header_.bytes_each));
    if (!file_.read(bytes_.data(), static_cast<std::streamsize>(bytes_.size()))) {
      throw Error(ErrorKind::input, message_of(name_, ": can't be read: it has become shorter, or the device failed"));
    }
  }
  template <Scalar T> T element(Index k, Index row, Index column) const {
    const char* const bytes = bytes_.data() + static_cast<std::size_t>(k) * header_.bytes_each;
    if (header_.kind == NpyKind::complex) {
      if constexpr (is_complex<T>) {
        const std::size_t half = header_.bytes_each / 2;
        return T(static_cast<Real<T>>(real_at(bytes, half, header_.swapped)),
                 static_cast<Real<T>>(real_at(bytes + half, half, header_.swapped)));
      }
    }
    if (header_.kind == NpyKind::real) {
      return T(static_cast<Real<T>>(real_at(bytes, header_.bytes_each, header_.swapped)));
    }
    const std::optional<Real<T>> value = integer_at<Real<T>>(bytes, header_, *whole_);
    if (!value) {
      throw Error(ErrorKind::input, message_of(name_, ": element (", row + 1, ", ", column + 1,
                                               ") is an integer that no ", impl::name_of_real<Real<T>>(), " equals"));
    }
    return T(*value);
  }

  std::string name_;
  NpyHeader header_;
  std::ifstream file_;
  std::vector<char> bytes_;
  impl::WholeNumbers* whole_;
};

template <Scalar T> std::string header_text(Index rows, Index columns, bool vector) {
  constexpr char order = std::endian::native == std::endian::little ? '<' : '>';
  std::string text = message_of("{'descr': '", order, is_complex<T> ? 'c' : 'f', sizeof(T),
                                "', 'fortran_order': True, 'shape': (", rows, ",");
  text += vector ? "), }" : message_of(" ", columns, "), }");
  // The elements begin at a multiple of 64 bytes, after ten of the version and the length.
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  const auto length = static_cast<unsigned>(text.size());
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(length % 256) + static_cast<char>(length / 256) + text;
}

}  // namespace

template <Scalar T>
DistributedMatrix<T> impl::read_npy(const Communicator& comm, const std::filesystem::path& path,
                                    const PlacementChoice& place, WholeNumbers& whole) {
  return read_by_panels<T, NpyReader>(comm, path, place, &whole);
}

template <Scalar T>
DistributedMatrix<T> read_npy(const Communicator& comm, const std::filesystem::path& path,
                              const PlacementChoice& place) {
  impl::WholeNumbers whole;
  return impl::read_npy<T>(comm, path, place, whole);
}

MatrixFileInfo npy_info(const Communicator& comm, const std::filesystem::path& path) {
  MatrixFileInfo info;
  comm.on_rank(0, [&] { info = NpyReader(path).info(); });
  return impl::broadcast_info(comm, info);
}

template <Scalar T>
void write_npy(const std::filesystem::path& path, const DistributedMatrix<T>& A, const MatrixFileOptions& options) {
  const Communicator& comm = A.communicator();
  std::optional<PendingStream> out;
  comm.on_rank(0, [&] {
    require(!options.vector || A.columns() == 1, path.string(), ": a vector has one column, not ", A.columns());
    out.emplace(path);
    *out << header_text<T>(A.rows(), A.columns(), options.vector);
  });
  impl::gather_panels(A, [&](Range columns, const HostMatrix<T>& panel) {
    for (Index j = 0; j < columns.size() && A.rows() > 0; ++j) {
      out->write(reinterpret_cast<const char*>(&panel(0, j)), A.rows() * static_cast<Index>(sizeof(T)));
    }
  });
  comm.on_rank(0, [&] { out->commit(); });
}

#define HEDDLE_INSTANTIATE(T)                                                                                        \
  template DistributedMatrix<T> impl::read_npy(const Communicator&, const std::filesystem::path&,                    \
                                               const PlacementChoice&, WholeNumbers&);                               \
  template DistributedMatrix<T> read_npy(const Communicator&, const std::filesystem::path&, const PlacementChoice&); \
  template void write_npy(const std::filesystem::path&, const DistributedMatrix<T>&, const MatrixFileOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
