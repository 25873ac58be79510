// Whole numbers of files as elements: exactly, as sums of several where one does not hold them, or not at all.
#pragma once

#include "io/matrix/text_reader.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/core/scalar.hpp>
#include <heddle/io/matrix_file.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace heddle::impl {

/// How whole numbers become elements of a type T.
struct WholeNumbers {
  /// Less than 0: a number that no T equals is refused. Otherwise the term of that number, counted from 0, of a sum
  /// that equals it: each term is the T nearest to what the terms before it leave, rounded toward zero.
  int term = -1;
  /// Set where any number has more terms than that.
  bool more = false;
};

/// A whole number of any number of digits.
class WholeNumber {
 public:
  template <std::integral Stored>
  explicit WholeNumber(Stored value)
      : WholeNumber(value < 0, magnitude_of(static_cast<std::uint64_t>(value), value < 0)) {}

  /// A sign, perhaps, and decimal digits; nothing for another word, and for one of more digits than a double has.
  [[nodiscard]] static std::optional<WholeNumber> from(std::string_view word);

  /// The T nearest to it, rounded toward zero, which is taken off it. Infinite where that is beyond all T.
  template <RealScalar T> T take();
  [[nodiscard]] bool is_zero() const { return digits_.empty(); }

 private:
  WholeNumber(bool negative, std::uint64_t magnitude);
  static std::uint64_t magnitude_of(std::uint64_t bits, bool negative) { return negative ? ~bits + 1 : bits; }
  void drop_zeros();

  bool negative_ = false;
  std::vector<std::uint32_t> digits_;  ///< To the base 2^32, the lowest first, the highest not zero.
};

/// The element that stands for a whole number; nothing where it is refused.
template <RealScalar T> [[nodiscard]] std::optional<T> element_of(WholeNumber number, WholeNumbers& whole);
template <RealScalar T, std::integral Stored>
[[nodiscard]] std::optional<T> element_of(Stored value, WholeNumbers& whole) {
  // Most of them T holds.
  constexpr auto most = std::int64_t{1} << std::numeric_limits<T>::digits;
  if (std::cmp_greater_equal(value, -most) && std::cmp_less_equal(value, most)) {
    return whole.term > 0 ? T(0) : static_cast<T>(value);
  }
  return element_of<T>(WholeNumber(value), whole);
}

/// The name of T in messages: "float" or "double".
template <RealScalar T> [[nodiscard]] constexpr const char* name_of_real() {
  return sizeof(T) == sizeof(float) ? "float" : "double";
}

/// The next word of the line as a whole number.
template <RealScalar T>
[[nodiscard]] T next_whole(const TextReader& reader, std::string_view& rest, WholeNumbers& whole);

// The readers of matrix_file.hpp.
template <Scalar T>
[[nodiscard]] DistributedMatrix<T> read_market(const Communicator& comm, const std::filesystem::path& path,
                                               const PlacementChoice& place, WholeNumbers& whole);
template <Scalar T>
[[nodiscard]] DistributedMatrix<T> read_hdf5(const Communicator& comm, const std::filesystem::path& path,
                                             const PlacementChoice& place, const std::string& dataset,
                                             WholeNumbers& whole);
template <Scalar T>
[[nodiscard]] DistributedMatrix<T> read_npy(const Communicator& comm, const std::filesystem::path& path,
                                            const PlacementChoice& place, WholeNumbers& whole);

/// Return the results of read(whole), called until no terms are left. Collective.
template <class Read> auto read_terms(const Communicator& comm, const Read& read) {
  WholeNumbers whole{.term = 0};
  std::vector<decltype(read(whole))> terms;
  do {
    whole.more = false;
    terms.push_back(read(whole));
    ++whole.term;
    comm.broadcast(std::span(&whole.more, 1), 0);
  } while (whole.more);
  return terms;
}

}  // namespace heddle::impl
