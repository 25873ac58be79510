// Reader and writer of square real matrices in plain text.
#include "core/instantiate.hpp"
#include "io/matrix/panels.hpp"
#include "io/matrix/text_reader.hpp"
#include <heddle/core/pending_file.hpp>
#include <heddle/io/text_matrix.hpp>

#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace heddle {

namespace {

// The words of a file, wherever its lines break.
class Words {
 public:
  explicit Words(const std::filesystem::path& path) : reader_(path) {}

  [[nodiscard]] const impl::TextReader& reader() const { return reader_; }
  // Point `rest` to the rest of the line that holds the next word; return false at the end of the file.
  bool next(std::string_view*& rest) {
    rest = &rest_;
    std::string_view look = rest_;
    return !impl::next_word(look).empty() || reader_.next_filled_line(rest_);
  }
  // Words from here to the end.
  Index count() {
    Index words = 0;
    for (std::string_view* rest = nullptr; next(rest); ++words) static_cast<void>(impl::next_word(*rest));
    return words;
  }

 private:
  impl::TextReader reader_;
  std::string_view rest_;
};

Index read_order(Words& words) {
  std::string_view* rest = nullptr;
  if (!words.next(rest)) {
    throw Error(ErrorKind::input,
                message_of(words.reader().name(), ": is empty, where the order n of a matrix is expected"));
  }
  const std::string_view word = impl::next_word(*rest);
  Index order = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), order);
  // Below, no product of sizes may overflow.
  constexpr Index largest = std::numeric_limits<Index>::max() / 64;
  if (error == std::errc::result_out_of_range || (error == std::errc() && order > 0 && order > largest / order)) {
    words.reader().refuse("a matrix of order ", impl::quoted(word), " is too large");
  }
  if (error != std::errc() || stop != word.data() + word.size() || order < 1) {
    words.reader().refuse("expected the order n of the matrix, a positive integer, found ", impl::quoted(word));
  }
  return order;
}

[[noreturn]] void refuse_few(const Words& words, Index found, Index order) {
  words.reader().refuse("the file ends after ", found, " of ", order * order, " numbers (a ", order, " x ", order,
                        " matrix)");
}

// By rows.
template <Scalar T> std::vector<T> read_elements(const std::filesystem::path& path, Index& order) {
  Words words(path);
  order = read_order(words);
  const Index expected = order * order;
  // A number takes two bytes, with what separates it: a file cut short is refused before room is made for it.
  if (static_cast<std::uintmax_t>(expected) > words.reader().size() / 2) refuse_few(words, words.count(), order);
  std::vector<T> elements;
  elements.reserve(static_cast<std::size_t>(expected));
  std::string_view* rest = nullptr;
  while (static_cast<Index>(elements.size()) < expected) {
    if (!words.next(rest)) refuse_few(words, static_cast<Index>(elements.size()), order);
    elements.push_back(T(impl::next_number<Real<T>>(words.reader(), *rest, "a real number")));
  }
  if (words.next(rest)) {
    const long long line = words.reader().line_number();
    throw Error(ErrorKind::input,
                message_of(words.reader().name(), ", line ", line, ": a ", order, " x ", order, " matrix has ",
                           expected, " numbers, but the file holds ", expected + words.count()));
  }
  return elements;
}

class TextWriter {
 public:
  TextWriter(const std::filesystem::path& path, Index rows, Index columns, bool complex)
      : name_(path.string()), order_(rows), out_(path) {
    if (complex) refuse("complex numbers have no form in plain text; choose .mtx or .h5");
    if (rows != columns || rows == 0) {
      refuse(message_of("plain text holds square matrices, not ", rows, " x ", columns, "; choose .mtx or .h5"));
    }
    whole_.resize(static_cast<std::size_t>(order_ * order_));
  }
  template <Scalar T> void take(Range columns, const HostMatrix<T>& panel) {
    if constexpr (!is_complex<T>) {
      for (Index j = 0; j < columns.size(); ++j) {
        for (Index i = 0; i < order_; ++i) {
          if (!std::isfinite(panel(i, j))) {
            refuse(message_of("element (", i + 1, ", ", columns.begin + j + 1, ") is ", panel(i, j),
                              ", for which plain text has no form"));
          }
          whole_[static_cast<std::size_t>(i * order_ + columns.begin + j)] = static_cast<double>(panel(i, j));
        }
      }
    }
  }
  // Digits as Number needs them.
  template <class Number> void finish() {
    std::string text = std::to_string(order_) + '\n';
    for (Index i = 0; i < order_; ++i) {
      for (Index j = 0; j < order_; ++j) {
        char digits[32];
        const auto number = static_cast<Number>(whole_[static_cast<std::size_t>(i * order_ + j)]);
        text.append(digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr);
        text += j + 1 < order_ ? ' ' : '\n';
      }
      out_ << text;
      text.clear();
    }
    out_.commit();
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const {
    throw Error(ErrorKind::output, message_of(name_, ": can't be written: ", reason));
  }

  std::string name_;
  Index order_;
  PendingStream out_;
  std::vector<double> whole_;  // By rows.
};

}  // namespace

template <Scalar T>
DistributedMatrix<T> read_text_matrix(const Communicator& comm, const std::filesystem::path& path,
                                      const PlacementChoice& place) {
  MatrixFileInfo info;
  std::vector<T> elements;
  // All of it before room is made on the others.
  comm.on_rank(0, [&] { elements = read_elements<T>(path, info.rows); });
  info.columns = info.rows;
  info = impl::broadcast_info(comm, info);
  const auto A = impl::new_matrix<T>(comm, path, place, info);
  impl::scatter_panels(A, [&](Range columns, const HostMatrix<T>& panel) {
    for (Index j = columns.begin; j < columns.end; ++j) {
      for (Index i = 0; i < info.rows; ++i) {
        panel(i, j - columns.begin) = elements[static_cast<std::size_t>(i * info.columns + j)];
      }
    }
  });
  return A;
}

MatrixFileInfo text_matrix_info(const Communicator& comm, const std::filesystem::path& path) {
  MatrixFileInfo info;
  comm.on_rank(0, [&] {
    Words words(path);
    info.rows = info.columns = read_order(words);
  });
  return impl::broadcast_info(comm, info);
}

template <Scalar T> void write_text_matrix(const std::filesystem::path& path, const DistributedMatrix<T>& A) {
  const Communicator& comm = A.communicator();
  std::unique_ptr<TextWriter> writer;
  comm.on_rank(0, [&] { writer = std::make_unique<TextWriter>(path, A.rows(), A.columns(), is_complex<T>); });
  impl::gather_panels(A, [&](Range columns, const HostMatrix<T>& panel) { writer->take(columns, panel); });
  comm.on_rank(0, [&] { writer->finish<Real<T>>(); });
}

#define HEDDLE_INSTANTIATE(T)                                                                       \
  template DistributedMatrix<T> read_text_matrix(const Communicator&, const std::filesystem::path&, \
                                                 const PlacementChoice&);                           \
  template void write_text_matrix(const std::filesystem::path&, const DistributedMatrix<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
