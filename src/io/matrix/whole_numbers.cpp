// Integers of any number of digits, and their splitting into sums of floating-point numbers.
#include "io/matrix/whole_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace heddle::impl {

WholeNumber::WholeNumber(bool negative, std::uint64_t magnitude)
    : negative_(negative),
      digits_{static_cast<std::uint32_t>(magnitude), static_cast<std::uint32_t>(magnitude >> 32U)} {
  drop_zeros();
}

void WholeNumber::drop_zeros() {
  while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
}

std::optional<WholeNumber> WholeNumber::from(std::string_view word) {
  const bool negative = word.starts_with('-');
  if (negative || word.starts_with('+')) word.remove_prefix(1);
  if (word.empty() || word.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  word.remove_prefix(std::min(word.find_first_not_of('0'), word.size()));
  if (word.size() > std::numeric_limits<double>::max_exponent10 + 1) return std::nullopt;
  WholeNumber number(negative, 0);
  for (const char character : word) {
    auto carried = static_cast<std::uint64_t>(character - '0');
    for (std::uint32_t& digit : number.digits_) {
      carried += std::uint64_t{10} * digit;
      digit = static_cast<std::uint32_t>(carried);
      carried >>= 32U;
    }
    if (carried != 0) number.digits_.push_back(static_cast<std::uint32_t>(carried));
  }
  return number;
}

template <RealScalar T> T WholeNumber::take() {
  if (is_zero()) return negative_ ? -T(0) : T(0);
  constexpr int held = std::numeric_limits<T>::digits;
  const int bits = 32 * static_cast<int>(digits_.size()) - std::countl_zero(digits_.back());
  const int lowest = std::max(0, bits - held);  // The lowest bit that a T has room for.
  double value = 0;
  for (std::size_t k = digits_.size(); k-- > 0;) {
    const int begin = 32 * static_cast<int>(k);
    if (begin + 32 <= lowest) break;
    const std::uint32_t left = begin >= lowest ? 0 : digits_[k] & ((std::uint32_t{1} << (lowest - begin)) - 1);
    value += std::ldexp(static_cast<double>(digits_[k] - left), begin);
    digits_[k] = left;
  }
  drop_zeros();
  const double most = std::numeric_limits<T>::max();
  const T taken = value > most ? std::numeric_limits<T>::infinity() : static_cast<T>(value);
  return negative_ ? -taken : taken;
}

template <RealScalar T> std::optional<T> element_of(WholeNumber number, WholeNumbers& whole) {
  T value = number.take<T>();
  if (std::isinf(value)) return std::nullopt;
  if (whole.term < 0) return number.is_zero() ? std::optional(value) : std::nullopt;
  for (int term = 0; term < whole.term; ++term) value = number.take<T>();
  whole.more = whole.more || !number.is_zero();
  return value;
}

template <RealScalar T> T next_whole(const TextReader& reader, std::string_view& rest, WholeNumbers& whole) {
  std::string_view after = rest;
  const std::string_view word = next_word(after);
  std::int64_t small = 0;
  std::optional<T> value;
  if (number_from(word, small) == NumberFault::none) {
    value = element_of<T>(small, whole);
  } else {
    const auto number = WholeNumber::from(word);
    // Says what is wrong with a word that is no number.
    if (!number) static_cast<void>(next_number<std::int64_t>(reader, rest, "an integer"));
    value = element_of<T>(*number, whole);
  }
  if (!value) {
    reader.refuse("the integer ", quoted(word), " is one that no ", name_of_real<T>(),
                  " equals; integers are not rounded");
  }
  rest = after;
  return *value;
}

#define HEDDLE_INSTANTIATE(T)                                       \
  template T WholeNumber::take();                                   \
  template std::optional<T> element_of(WholeNumber, WholeNumbers&); \
  template T next_whole(const TextReader&, std::string_view&, WholeNumbers&)
HEDDLE_INSTANTIATE(float);
HEDDLE_INSTANTIATE(double);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
