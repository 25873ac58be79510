// Linear systems of integers modulo primes of 31 bits, and what follows from them for exact solutions.
#include "solve/proof/modular.hpp"

#include "core/instantiate.hpp"
#include "solve/grid/rank_grid.hpp"
#include "solve/system/residuals.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

namespace heddle::impl {
namespace {

using Residue = std::uint64_t;

// mantissa 2^exponent, the mantissa odd or zero.
struct Dyadic {
  std::int64_t mantissa = 0;
  Index exponent = 0;
};
Dyadic dyadic(double x) {
  if (x == 0) return {};
  const int exponent = std::max(std::ilogb(x), std::numeric_limits<double>::min_exponent - 1) - 52;
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(x, -exponent));
  const int zeros = std::countr_zero(static_cast<std::uint64_t>(mantissa));
  return {mantissa / (std::int64_t{1} << zeros), exponent + zeros};
}

// Arithmetic modulo a prime below 2^31.
class PrimeField {
 public:
  explicit PrimeField(Residue prime) : prime_(prime), reciprocal_(~Residue{0} / prime) {}

  // x mod p, for x < 2^63.
  [[nodiscard]] Residue reduced(Residue x) const {
    __extension__ using Wide = unsigned __int128;
    const Residue rest = x - static_cast<Residue>((static_cast<Wide>(x) * reciprocal_) >> 64U) * prime_;
    return rest >= prime_ ? rest - prime_ : rest;
  }
  [[nodiscard]] Residue product(Residue x, Residue y) const { return reduced(x * y); }
  [[nodiscard]] Residue negative(Residue x) const { return x == 0 ? 0 : prime_ - x; }
  [[nodiscard]] Residue power(Residue x, Residue exponent) const {
    Residue result = 1;
    for (; exponent > 0; exponent /= 2, x = product(x, x)) {
      if (exponent % 2 == 1) result = product(result, x);
    }
    return result;
  }
  [[nodiscard]] Residue inverse(Residue x) const { return power(x, prime_ - 2); }
  [[nodiscard]] Residue of(const Dyadic& x) const {
    const Residue magnitude = reduced(static_cast<Residue>(std::abs(x.mantissa)));
    const Residue two = x.exponent < 0 ? (prime_ + 1) / 2 : 2;
    const Residue scaled = product(magnitude, power(two, static_cast<Residue>(std::abs(x.exponent))));
    return x.mantissa < 0 ? negative(scaled) : scaled;
  }

 private:
  Residue prime_;
  Residue reciprocal_;
};

// Whether a number below 2^32 is a prime (G. Jaeschke, "On strong pseudoprimes to several bases", 1993).
bool is_prime(Residue number) {
  for (const Residue small : {2U, 3U, 5U, 7U}) {
    if (number % small == 0) return number == small;
  }
  const PrimeField field(number);
  const int twos = std::countr_zero(number - 1);
  for (const Residue base : {2U, 3U, 5U, 7U}) {
    Residue x = field.power(base, (number - 1) >> static_cast<unsigned>(twos));
    bool passes = x == 1 || x == number - 1;
    for (int k = 1; k < twos && !passes; ++k) {
      x = field.product(x, x);
      passes = x == number - 1;
    }
    if (!passes) return false;
  }
  return number != 3215031751U;
}
// The largest primes below 2^31, each of more than 30 bits.
std::vector<Residue> primes(std::size_t count) {
  std::vector<Residue> found;
  for (Residue number = (Residue{1} << 31U) - 1; found.size() < count; number -= 2) {
    if (is_prime(number)) found.push_back(number);
  }
  return found;
}

// [M B] in real numbers, row by row, with the columns of B that have claims.
struct Integers {
  Index order = 0;
  Index width = 0;
  std::vector<Dyadic> elements;
  // Bound of the bits of the determinants of [M b] with rows times powers of two that make them integers.
  [[nodiscard]] double bits() const {
    double all = 0.0;
    for (Index i = 0; i < order; ++i) {
      Index lowest = std::numeric_limits<Index>::max();
      Index highest = std::numeric_limits<Index>::min();
      for (Index j = 0; j < width; ++j) {
        const Dyadic& x = elements[static_cast<std::size_t>(i * width + j)];
        if (x.mantissa == 0) continue;
        lowest = std::min(lowest, x.exponent);
        highest = std::max(
            highest, x.exponent + static_cast<Index>(std::bit_width(static_cast<std::uint64_t>(std::abs(x.mantissa)))));
      }
      if (highest > lowest)
        all += static_cast<double>(highest - lowest) +
               0.5 * static_cast<double>(std::bit_width(static_cast<std::uint64_t>(width))) + 1;
    }
    return all;
  }
};

template <Scalar T>
Integers integers_of(const PlacedMatrix<T>& M, const PlacedMatrix<T>& B, const std::vector<Index>& columns) {
  const Index n = M.rows();
  constexpr Index parts = is_complex<T> ? 2 : 1;
  Integers found;
  found.order = parts * n;
  found.width = found.order + static_cast<Index>(columns.size());
  found.elements.resize(static_cast<std::size_t>(found.order * found.width));
  const auto set = [&](Index i, Index j, double x) {
    found.elements[static_cast<std::size_t>(i * found.width + j)] = dyadic(x);
  };
  const CyclicAxis whole{n, std::max<Index>(1, (n + M.ranks().size() - 1) / M.ranks().size()), M.ranks().size()};
  const PlacedMatrix<T> by_columns = placed(M, RankGrid::of_columns(n, whole, 0).placement().in(M.residence()));
  for (Index j = 0; j < n; ++j) {
    const std::vector<T> column = column_of(by_columns, j);
    for (Index i = 0; i < n; ++i) {
      const T& x = column[static_cast<std::size_t>(i)];
      set(i, j, real_of<double>(x));
      if constexpr (is_complex<T>) {
        set(i, n + j, -imaginary_of<double>(x));
        set(n + i, j, imaginary_of<double>(x));
        set(n + i, n + j, real_of<double>(x));
      }
    }
  }
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const std::vector<T> column = column_of(B, columns[k]);
    for (Index i = 0; i < n; ++i) {
      const T& x = column[static_cast<std::size_t>(i)];
      set(i, found.order + static_cast<Index>(k), real_of<double>(x));
      if constexpr (is_complex<T>) set(n + i, found.order + static_cast<Index>(k), imaginary_of<double>(x));
    }
  }
  return found;
}

// Solves [M B] modulo a prime by elimination, in place of B; false if M is singular there. Rows of rational numbers are
// as good as those of integers, since 2 has an inverse.
bool solve_modulo(const PrimeField& field, Index n, Index width, std::vector<Residue>& a) {
  const auto row = [&](Index i) { return a.data() + i * width; };
  for (Index k = 0; k < n; ++k) {
    Index pivot = k;
    while (pivot < n && row(pivot)[k] == 0) ++pivot;
    if (pivot == n) return false;
    if (pivot != k) std::swap_ranges(row(k), row(k) + width, row(pivot));
    const Residue by = field.inverse(row(k)[k]);
    for (Index j = k; j < width; ++j) row(k)[j] = field.product(row(k)[j], by);
    for (Index i = k + 1; i < n; ++i) {
      const Residue factor = field.negative(row(i)[k]);
      if (factor == 0) continue;
      for (Index j = k; j < width; ++j) row(i)[j] = field.reduced(row(i)[j] + factor * row(k)[j]);
    }
  }
  for (Index k = n - 1; k > 0; --k) {
    for (Index i = 0; i < k; ++i) {
      const Residue factor = field.negative(row(i)[k]);
      for (Index j = n; j < width && factor != 0; ++j) row(i)[j] = field.reduced(row(i)[j] + factor * row(k)[j]);
    }
  }
  return true;
}

}  // namespace

template <Scalar T> void prove(const PlacedMatrix<T>& M, const PlacedMatrix<T>& B, std::vector<Claim>& claims) {
  if (claims.empty()) return;
  constexpr double most_operations = 4e9;
  const auto order = static_cast<double>((is_complex<T> ? 2 : 1) * M.rows());
  // Before anything is gathered: numbers have one bit at least.
  if (order * order * order / 3.0 * (order / 30.0) > most_operations) return;
  std::map<Index, Index> places;
  for (const Claim& claim : claims) places.emplace(claim.column, 0);
  std::vector<Index> columns;
  for (auto& [column, place] : places) {
    place = static_cast<Index>(columns.size());
    columns.push_back(column);
  }
  const Integers integers = integers_of(M, B, columns);
  // The claimed number is an integer over a power of two.
  double of_claims = 0.0;
  for (const Claim& claim : claims) {
    for (const Dyadic& x : {dyadic(claim.low), dyadic(claim.high)}) {
      if (x.mantissa != 0) of_claims = std::max(of_claims, 66.0 + static_cast<double>(std::abs(x.exponent)));
    }
  }
  const double bits = integers.bits() + of_claims + 4.0;
  const auto n = static_cast<double>(integers.order);
  if (n * n * (n / 3.0 + static_cast<double>(columns.size())) * (bits / 30.0) > most_operations) return;
  // A prime that divides the determinant tells nothing; each takes 30 bits of it, so that there are enough.
  const auto needed = static_cast<std::size_t>(bits / 30.0) + 1;
  const std::vector<Residue> all = primes(2 * needed);
  const auto ranks = static_cast<std::size_t>(M.ranks().size());
  std::vector<Residue> mine;
  for (auto k = static_cast<std::size_t>(M.ranks().rank()); k < all.size(); k += ranks) mine.push_back(all[k]);
  std::vector<std::uint8_t> told(mine.size(), 0);
  std::vector<std::uint8_t> holds(mine.size() * claims.size(), 0);
  using Host = Kokkos::DefaultHostExecutionSpace;
  const auto solve_one = [&](std::size_t at) {
    const PrimeField field(mine[at]);
    std::vector<Residue> a(integers.elements.size());
    std::transform(integers.elements.begin(), integers.elements.end(), a.begin(),
                   [&](const Dyadic& x) { return x.mantissa == 0 ? 0 : field.of(x); });
    if (!solve_modulo(field, integers.order, integers.width, a)) return;
    told[at] = 1;
    for (std::size_t c = 0; c < claims.size(); ++c) {
      const Claim& claim = claims[c];
      const Residue claimed =
          field.product(field.reduced(field.of(dyadic(claim.low)) + field.of(dyadic(claim.high))), field.of({1, -1}));
      const Index i = claim.row + (claim.part == 0 ? 0 : M.rows());
      holds[at * claims.size() + c] =
          a[static_cast<std::size_t>(i * integers.width + integers.order + places.at(claim.column))] == claimed ? 1 : 0;
    }
  };
  Kokkos::parallel_for(
      "heddle::solve::modulo_primes",
      Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::size_t>>(0, mine.size()),
      solve_one);
  Host().fence("heddle::solve::modulo_primes");
  double bits_told = 0.0;
  std::vector<double> refuted(claims.size(), 0.0);
  for (std::size_t at = 0; at < mine.size(); ++at) {
    if (told[at] == 0) continue;
    bits_told += 30.0;
    for (std::size_t c = 0; c < claims.size(); ++c) {
      if (holds[at * claims.size() + c] == 0) refuted[c] = 1.0;
    }
  }
  M.ranks().all_reduce(std::span<double>(refuted), Reduction::maximum);
  const bool enough = M.ranks().all_reduce(bits_told, Reduction::sum) >= bits;
  for (std::size_t c = 0; c < claims.size(); ++c) claims[c].proven = enough && refuted[c] == 0.0;
}

#define HEDDLE_INSTANTIATE(T) \
  template void prove<T>(const PlacedMatrix<T>&, const PlacedMatrix<T>&, std::vector<Claim>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
