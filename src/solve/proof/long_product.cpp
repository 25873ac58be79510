// Exact native products of digits, and their sums.
#include "solve/proof/long_product.hpp"

#include "core/instantiate.hpp"
#include "exact/products/inner.hpp"
#include "solve/grid/over_rows.hpp"
#include "solve/proof/certificate.hpp"
#include "solve/system/equilibration.hpp"
#include "solve/system/memory.hpp"
#include "solve/system/residuals.hpp"
#include "solve/system/sizes.hpp"
#include "solve/system/system.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace heddle::impl {
namespace {

constexpr int most_terms = 3;

/// The integer nearest to x, |x| < 2^51.
KOKKOS_INLINE_FUNCTION double nearest_integer(double x) {
  constexpr double big = 0x1.8p52;
  return (x + big) - big;
}
/// sum + rest = a + b, |rest| <= u |sum|.
KOKKOS_INLINE_FUNCTION void add_exactly(double a, double b, double& sum, double& rest) {
  sum = a + b;
  const double of_b = sum - a;
  rest = (a - (sum - of_b)) + (b - of_b);
}

template <class T, class Body> KOKKOS_INLINE_FUNCTION T of_parts(const Body& body) {
  if constexpr (is_complex<T>) {
    return T(body(0), body(1));
  } else {
    return body(0);
  }
}

// A digit of a sum of numbers: the sum of theirs, which is one of at most 2^bits, since numbers of a sum do not
// overlap.
template <Scalar T> struct TakeDigit {
  Elements<T> first;
  Elements<T> second;
  Elements<T> third;
  int terms;
  Index digit;
  double base;
  Elements<T> to;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION double digit_of(double x) const {
    double found = 0.0;
    for (Index s = 0; s < digit; ++s) {
      x *= base;
      found = nearest_integer(x);
      x -= found;
    }
    return found;
  }
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const {
    to(i, j) = of_parts<T>([&](int p) {
      double sum = digit_of(exact::impl::part_of(first(i, j), p));
      if (terms > 1) sum += digit_of(exact::impl::part_of(second(i, j), p));
      if (terms > 2) sum += digit_of(exact::impl::part_of(third(i, j), p));
      return sum;
    });
  }
};

template <Scalar T> struct Cut {
  Elements<T> a;
  double scale;  // Up to 2^106.
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const {
    a(i, j) = of_parts<T>([&](int p) {
      const double x = exact::impl::part_of(a(i, j), p) * scale;
      const double size = Kokkos::abs(x);
      // From 2^52 on all numbers are integers.
      return Kokkos::copysign(size < 0x1p52 ? (size + 0x1p52) - 0x1p52 : size, x) / scale;
    });
  }
};

// Adds a product of digits times a power of two to three numbers.
template <Scalar T> struct AddProduct {
  Elements<T> product;
  double factor;
  Elements<T> first;
  Elements<T> second;
  Elements<T> third;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const {
    T numbers[most_terms] = {first(i, j), second(i, j), third(i, j)};
    double sums[most_terms][2] = {};
    for (int p = 0; p < exact::impl::parts_of_scalar<T>; ++p) {
      double more = exact::impl::part_of(product(i, j), p) * factor;
      for (int k = 0; k < most_terms; ++k) add_exactly(exact::impl::part_of(numbers[k], p), more, sums[k][p], more);
    }
    first(i, j) = of_parts<T>([&](int p) { return sums[0][p]; });
    second(i, j) = of_parts<T>([&](int p) { return sums[1][p]; });
    third(i, j) = of_parts<T>([&](int p) { return sums[2][p]; });
  }
};
// The same three numbers' sum with each at most 2 u times the one before.
template <Scalar T> struct Normalise {
  Elements<T> first;
  Elements<T> second;
  Elements<T> third;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const {
    double x[most_terms][2] = {};
    for (int p = 0; p < exact::impl::parts_of_scalar<T>; ++p) {
      x[0][p] = exact::impl::part_of(first(i, j), p);
      x[1][p] = exact::impl::part_of(second(i, j), p);
      x[2][p] = exact::impl::part_of(third(i, j), p);
      for (int pass = 0; pass < 3; ++pass) {
        add_exactly(x[1][p], x[2][p], x[1][p], x[2][p]);
        add_exactly(x[0][p], x[1][p], x[0][p], x[1][p]);
        add_exactly(x[1][p], x[2][p], x[1][p], x[2][p]);
      }
    }
    first(i, j) = of_parts<T>([&](int p) { return x[0][p]; });
    second(i, j) = of_parts<T>([&](int p) { return x[1][p]; });
    third(i, j) = of_parts<T>([&](int p) { return x[2][p]; });
  }
};

template <Scalar T> struct Widen {
  Elements<T> from;
  Elements<InDouble<T>> to;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const { to(i, j) = InDouble<T>(from(i, j)); }
};
template <Scalar T> Elements<T> term(const LongMatrix<T>& M, std::size_t k) {
  return Elements<T>(M[std::min(k, M.size() - 1)].local());
}

}  // namespace

template <Scalar T>
LongProduct<T>::LongProduct(const OptionalRanks& ranks, const Placement& placement)
    : order_(placement.rows()),
      left_(ranks, placement, "heddle::solve::digits_of_a"),
      right_(ranks, placement, "heddle::solve::digits_of_b"),
      product_(ranks, placement, "heddle::solve::product_of_digits") {
  // Sums of products of digits are integers of at most 2^53; complex products have four times as many, also if they are
  // formed by three real ones.
  const auto terms = static_cast<std::uint64_t>(std::max<Index>(order_, 1)) * (is_complex<T> ? 4 : 1);
  // With more, products of three digits would be longer than three numbers.
  constexpr Index most = 21;
  bits_ = std::min<Index>((53 - std::bit_width(terms - 1)) / 2, most);
}

template <Scalar T> void LongProduct<T>::cut(const PlacedMatrix<T>& A, Index digits) const {
  for_each_local(A, "heddle::solve::cut", Cut<T>{Elements<T>(A.local()), power_of_two(digits * bits_)});
}

// Sets a matrix of digits; false if all are zero.
template <Scalar T>
bool LongProduct<T>::take_digit(const LongMatrix<T>& from, Index digit, const PlacedMatrix<T>& to) const {
  const int terms = static_cast<int>(from.size());
  for_each_local(to, "heddle::solve::take_digit",
                 TakeDigit<T>{term(from, 0), term(from, 1), term(from, 2), terms, digit, power_of_two(bits_),
                              Elements<T>(to.local())});
  return largest_of(sizes_by_row(to)) > 0.0;
}

template <Scalar T>
double LongProduct<T>::add(const LongMatrix<T>& A, const LongMatrix<T>& B, const Digits& digits, Index power,
                           const LongMatrix<T>& C) const {
  constexpr double unit = 0x1p-53;
  double pairs = 0.0;
  // The largest products come first.
  for (Index level = 2; level <= digits.levels; ++level) {
    for (Index s = std::max<Index>(1, level - digits.of_b); s <= std::min(level - 1, digits.of_a); ++s) {
      pairs += 1.0;
      if (!take_digit(A, s, left_) || !take_digit(B, level - s, right_)) continue;
      multiply(left_, right_, product_);
      for_each_local(product_, "heddle::solve::add_product",
                     AddProduct<T>{Elements<T>(product_.local()), power_of_two(power - level * bits_), term(C, 0),
                                   term(C, 1), term(C, 2)});
    }
  }
  for_each_local(C[0], "heddle::solve::normalise", Normalise<T>{term(C, 0), term(C, 1), term(C, 2)});
  // Upper bound of the sum of all parts of products.
  const double all = times_power(static_cast<double>(order_) * (is_complex<T> ? 2.0 : 1.0), power);
  // Each addition leaves at most u times the largest sum to the next number.
  double lost = 16.0 * pairs * pairs * pairs * unit * unit * unit * (2.0 * all + 1.0);
  const bool complete = digits.levels >= digits.of_a + digits.of_b;
  // Sums are multiples of this number.
  if (complete && lost < times_power(1.0, power - (digits.of_a + digits.of_b) * bits_)) lost = 0.0;
  const double neglected =
      complete ? 0.0 : 1.5 * static_cast<double>(digits.levels) * times_power(all, -(digits.levels - 1) * bits_);
  return 2.0 * (lost + neglected);
}

template <Scalar T> double bytes_of_long_matrices(Index order, int ranks) {
  using Z = InDouble<T>;
  // Inverses take nine of long matrices, three of digits, two powers, S, V and a pattern; determinants take less.
  constexpr double matrices = 18.0;
  return matrices * bytes_of_local<Z>(order, right_hand_sides(order, ranks)) +
         (ranks == 1 ? 0.0 : certificate_product(order, ranks, sizeof(Z)));
}

template <Scalar T> std::vector<double> sizes_by_row(const PlacedMatrix<T>& M) {
  const Elements<T> m(M.local());
  return over_rows<Larger>(
      M, "heddle::solve::largest_of_rows", KOKKOS_LAMBDA(Index i, Index j) {
        const double size = part_size(m(i, j));
        return size == size ? size : std::numeric_limits<double>::infinity();
      });
}
template <Scalar T>
std::vector<double> sizes_by_column(const PlacedMatrix<T>& M, const std::vector<Index>& rows,
                                    const std::vector<Index>& columns) {
  const auto by_row = of_local_rows(M, rows);
  const auto by_column = of_local_columns(M, columns);
  const Elements<T> m(M.local());
  return over_columns<Larger>(
      M, "heddle::solve::largest_of_columns", KOKKOS_LAMBDA(Index i, Index j) {
        const double size = times_power(part_size(m(i, j)), by_row(i) + by_column(j));
        return size == size ? size : std::numeric_limits<double>::infinity();
      });
}

template <Scalar T> PlacedMatrix<InDouble<T>> in_double(const PlacedMatrix<T>& A, const Placement& placement) {
  const PlacedMatrix<T> here = placed(A, placement);
  if constexpr (std::is_same_v<T, InDouble<T>>) {
    return here;
  } else {
    const PlacedMatrix<InDouble<T>> wide(A.ranks(), placement, "heddle::solve::in_double");
    for_each_local(wide, "heddle::solve::in_double",
                   Widen<T>{Elements<T>(here.local()), Elements<InDouble<T>>(wide.local())});
    return wide;
  }
}

template <Scalar T>
std::optional<ScaledMatrix<T>> scaled_exactly(const PlacedMatrix<T>& A, std::vector<Index> rows,
                                              const std::vector<Index>& columns, const Placement& placement) {
  const double largest = largest_of(sizes_by_column(A, rows, columns));
  if (!(largest > 0) || !std::isfinite(largest)) return std::nullopt;
  ScaledMatrix<T> scaled{PlacedMatrix<T>(A.ranks(), placement, "heddle::solve::system"), exponent_of_size(largest)};
  for (Index& power : rows) power += scaled.power;
  if (!scales_exactly(A, rows, columns)) return std::nullopt;
  redistribute(A, scaled.matrix);
  scale_by(scaled.matrix, rows, columns);
  return scaled;
}

template <Scalar T> void add_to(const LongMatrix<T>& C, const PlacedMatrix<T>& M, double factor) {
  for_each_local(M, "heddle::solve::add_to",
                 AddProduct<T>{Elements<T>(M.local()), factor, term(C, 0), term(C, 1), term(C, 2)});
  for_each_local(M, "heddle::solve::normalise", Normalise<T>{term(C, 0), term(C, 1), term(C, 2)});
}

template <Scalar T>
LongMatrix<T> long_zeros(const OptionalRanks& ranks, const Placement& placement, const std::string& label) {
  LongMatrix<T> M;
  for (int k = 0; k < most_terms; ++k) {
    M.emplace_back(ranks, placement, label);
    const Elements<T> m(M.back().local());
    for_each_local(
        M.back(), "heddle::solve::long_zeros", KOKKOS_LAMBDA(Index i, Index j) { m(i, j) = T(0); });
  }
  return M;
}

#define HEDDLE_INSTANTIATE(T)                                                                        \
  template double bytes_of_long_matrices<T>(Index, int);                                             \
  template PlacedMatrix<InDouble<T>> in_double<T>(const PlacedMatrix<T>&, const Placement&);         \
  template std::vector<double> sizes_by_row<T>(const PlacedMatrix<T>&);                              \
  template std::vector<double> sizes_by_column<T>(const PlacedMatrix<T>&, const std::vector<Index>&, \
                                                  const std::vector<Index>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(T)                                                                             \
  template class LongProduct<T>;                                                                          \
  template std::optional<ScaledMatrix<T>> scaled_exactly<T>(const PlacedMatrix<T>&, std::vector<Index>,   \
                                                            const std::vector<Index>&, const Placement&); \
  template void add_to<T>(const LongMatrix<T>&, const PlacedMatrix<T>&, double);                          \
  template LongMatrix<T> long_zeros<T>(const OptionalRanks&, const Placement&, const std::string&)
HEDDLE_INSTANTIATE(double);
HEDDLE_INSTANTIATE(Kokkos::complex<double>);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
