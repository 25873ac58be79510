// Reader and writer of distributed matrices in Matrix Market files.
#include "core/instantiate.hpp"
#include "io/matrix/matrix_market_reader.hpp"
#include "io/matrix/panels.hpp"
#include <heddle/core/pending_file.hpp>
#include <heddle/io/matrix_market.hpp>

#include <charconv>
#include <cmath>
#include <optional>

namespace heddle {

namespace {

MatrixFileInfo info_of(const impl::MarketHeader& header) {
  return {header.rows, header.columns, header.field == impl::MarketField::complex};
}

// Array files on their way to the disk.
class MarketWriter {
 public:
  MarketWriter(const std::filesystem::path& target, Index rows, Index columns, bool complex)
      : name_(target.string()), out_(target) {
    text_ = message_of("%%MatrixMarket matrix array ", complex ? "complex" : "real", " general\n", rows, " ", columns,
                       "\n");
  }

  template <Scalar T> void write_columns(Range columns, const HostMatrix<T>& panel) {
    for (Index j = 0; j < columns.size(); ++j) {
      for (Index i = 0; i < static_cast<Index>(panel.extent(0)); ++i) {
        const T value = panel(i, j);
        if constexpr (is_complex<T>) {
          append(value.real(), i, columns.begin + j);
          text_ += ' ';
          append(value.imag(), i, columns.begin + j);
        } else {
          append(value, i, columns.begin + j);
        }
        text_ += '\n';
        if (text_.size() > (std::size_t{1} << 20)) flush();
      }
    }
  }

  void finish() {
    flush();
    out_.commit();
  }

 private:
  template <class Number> void append(Number value, Index row, Index column) {
    if (!std::isfinite(value)) {
      refuse(
          message_of("element (", row + 1, ", ", column + 1, ") is ", value, ", for which Matrix Market has no form"));
    }
    char digits[32];
    const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), value);
    text_.append(std::begin(digits), end);
  }
  void flush() {
    out_ << text_;
    text_.clear();
  }
  [[noreturn]] void refuse(const std::string& reason) const {
    throw Error(ErrorKind::output, message_of(name_, ": can't be written: ", reason));
  }

  std::string name_;
  PendingStream out_;
  std::string text_;
};

}  // namespace

namespace impl {

template <Scalar T>
DistributedMatrix<T> read_market(const Communicator& comm, const std::filesystem::path& path,
                                 const PlacementChoice& place, WholeNumbers& whole) {
  std::optional<MarketReader<T>> reader;
  MatrixFileInfo info;
  comm.on_rank(0, [&] {
    TextReader probe(path);
    require_field<T>(path, info_of(read_market_header(probe)));
    reader.emplace(path, whole);
    info = info_of(reader->header());
    if (info.rows == 0 || info.columns == 0) reader->finish();
  });
  info = broadcast_info(comm, info);
  const auto A = new_matrix<T>(comm, path, place, info);
  scatter_panels(A, [&](Range columns, const HostMatrix<T>& panel) { reader->read_columns(columns, panel); });
  return A;
}

}  // namespace impl

template <Scalar T>
DistributedMatrix<T> read_matrix_market(const Communicator& comm, const std::filesystem::path& path,
                                        const PlacementChoice& place) {
  impl::WholeNumbers whole;
  return impl::read_market<T>(comm, path, place, whole);
}

MatrixFileInfo matrix_market_info(const Communicator& comm, const std::filesystem::path& path) {
  MatrixFileInfo info;
  comm.on_rank(0, [&] {
    impl::TextReader reader(path);
    info = info_of(impl::read_market_header(reader));
  });
  return impl::broadcast_info(comm, info);
}

template <Scalar T> void write_matrix_market(const std::filesystem::path& path, const DistributedMatrix<T>& A) {
  const Communicator& comm = A.communicator();
  std::optional<MarketWriter> writer;
  comm.on_rank(0, [&] { writer.emplace(path, A.rows(), A.columns(), is_complex<T>); });
  impl::gather_panels(A, [&](Range columns, const HostMatrix<T>& panel) { writer->write_columns(columns, panel); });
  comm.on_rank(0, [&] { writer->finish(); });
}

#define HEDDLE_INSTANTIATE(T)                                                                         \
  template DistributedMatrix<T> impl::read_market(const Communicator&, const std::filesystem::path&,  \
                                                  const PlacementChoice&, WholeNumbers&);             \
  template DistributedMatrix<T> read_matrix_market(const Communicator&, const std::filesystem::path&, \
                                                   const PlacementChoice&);                           \
  template void write_matrix_market(const std::filesystem::path&, const DistributedMatrix<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
