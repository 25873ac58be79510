// Linear systems of integers modulo primes of 31 bits, and what follows from them for exact solutions.
#include "solve/proof/modular.hpp"

#include "core/instantiate.hpp"
#include "solve/grid/rank_grid.hpp"
#include "solve/proof/long_integer.hpp"
#include "solve/system/residuals.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>

namespace heddle::impl {
namespace {

// The most operations that solutions modulo primes take.
constexpr double most_operations = 4e9;

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

// Solves [M B] modulo a prime by elimination, in place of B; returns the determinant of M, and if it is zero solves
// nothing. Rows of rational numbers are as good as those of integers, since 2 has an inverse.
Residue solve_modulo(const PrimeField& field, Index n, Index width, std::vector<Residue>& a) {
  const auto row = [&](Index i) { return a.data() + i * width; };
  Residue determinant = 1;
  for (Index k = 0; k < n; ++k) {
    Index pivot = k;
    while (pivot < n && row(pivot)[k] == 0) ++pivot;
    if (pivot == n) return 0;
    if (pivot != k) {
      std::swap_ranges(row(k), row(k) + width, row(pivot));
      determinant = field.negative(determinant);
    }
    determinant = field.product(determinant, row(k)[k]);
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
  return determinant;
}

// Multiplies the rows [Re M, -Im M], and then pairs of columns, by powers of two that make all elements integers, some
// of them odd; returns minus the sum of the exponents.
Index make_integers(Integers& M) {
  Index sum = 0;
  const auto scale = [&](const std::vector<Index>& places) {
    Index lowest = std::numeric_limits<Index>::max();
    for (const Index at : places) {
      const Dyadic& x = M.elements[static_cast<std::size_t>(at)];
      if (x.mantissa != 0) lowest = std::min(lowest, x.exponent);
    }
    if (lowest == std::numeric_limits<Index>::max()) return;
    for (const Index at : places) M.elements[static_cast<std::size_t>(at)].exponent -= lowest;
    sum += lowest;
  };
  for (Index i = 0; i < M.order; ++i) {
    std::vector<Index> row(static_cast<std::size_t>(M.width));
    std::iota(row.begin(), row.end(), i * M.width);
    scale(row);
  }
  for (Index j = 0; j < M.order; ++j) {
    std::vector<Index> column;
    for (Index at = j; at < M.order * M.width; at += M.order) column.push_back(at);
    scale(column);
  }
  return sum;
}

// Runs work(k) for the primes of this rank, by its threads.
template <class Work> void for_each_prime(std::size_t count, const Work& work) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  Kokkos::parallel_for(
      "heddle::solve::modulo_primes",
      Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::size_t>>(0, count), work);
  Host().fence("heddle::solve::modulo_primes");
}

}  // namespace

template <Scalar T> std::optional<ExactDeterminant<T>> determinant_modulo_primes(const PlacedMatrix<T>& M) {
  constexpr Index parts = is_complex<T> ? 2 : 1;
  const Index n = M.rows();
  const auto order = static_cast<double>(n);
  const double each = static_cast<double>(parts) * order * order * order / 3.0;
  if (each * (order / 30.0) > most_operations) return std::nullopt;
  Integers integers = integers_of(M, M, {});
  integers.order = n;
  integers.elements.resize(static_cast<std::size_t>(n * integers.width));
  ExactDeterminant<T> found;
  found.exponent = make_integers(integers);
  const double bits = integers.bits() + 2.0;
  if (each * (bits / 30.0) > most_operations) return std::nullopt;
  const std::vector<Residue> all = primes(static_cast<std::size_t>(bits / 30.0) + 1, is_complex<T>);
  const auto ranks = static_cast<std::size_t>(M.ranks().size());
  const auto mine = static_cast<std::size_t>(M.ranks().rank());
  // The determinant's parts modulo each prime.
  std::vector<double> residues(parts * all.size(), 0.0);
  for_each_prime((all.size() + ranks - 1) / ranks, [&](std::size_t k) {
    const std::size_t at = k * ranks + mine;
    if (at >= all.size()) return;
    const PrimeField field(all[at]);
    const Residue root = is_complex<T> ? field.root_of_minus_one() : 0;
    std::array<Residue, 2> with_root{};
    for (const bool other : {false, true}) {
      if (other && !is_complex<T>) break;
      std::vector<Residue> a(static_cast<std::size_t>(n * n));
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) {
          const auto element = [&](Index part) {
            const Dyadic& x = integers.elements[static_cast<std::size_t>(i * integers.width + part * n + j)];
            return x.mantissa == 0 ? 0 : field.of(x);
          };
          Residue& x = a[static_cast<std::size_t>(i * n + j)];
          x = element(0);
          if constexpr (is_complex<T>) {
            const Residue by = other ? root : field.negative(root);
            x = field.reduced(x + by * element(1));
          }
        }
      }
      with_root[other ? 1 : 0] = solve_modulo(field, n, n, a);
    }
    if constexpr (is_complex<T>) {
      const auto [d, conjugate] = with_root;
      const Residue half = field.inverse(2);
      residues[at] = static_cast<double>(field.product(half, field.reduced(d + conjugate)));
      residues[all.size() + at] = static_cast<double>(
          field.product(field.product(half, field.inverse(root)), field.reduced(d + field.negative(conjugate))));
    } else {
      residues[at] = static_cast<double>(with_root[0]);
    }
  });
  M.ranks().all_reduce(std::span<double>(residues), Reduction::sum);
  std::vector<LongInteger> integer;
  Index scale = 0;
  for (auto first = residues.begin(); first != residues.end(); first += static_cast<std::ptrdiff_t>(all.size())) {
    integer.push_back(of_residues(all, std::vector<Residue>(first, first + static_cast<std::ptrdiff_t>(all.size()))));
    scale = std::max(scale, integer.back().bits());
  }
  for (std::size_t p = 0; p < integer.size(); ++p) integer[p].add_to(found.number.part[p], scale);
  found.exponent += scale;
  return found;
}

template <Scalar T> void prove(const PlacedMatrix<T>& M, const PlacedMatrix<T>& B, std::vector<Claim>& claims) {
  if (claims.empty()) return;
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
  const auto solve_one = [&](std::size_t at) {
    const PrimeField field(mine[at]);
    std::vector<Residue> a(integers.elements.size());
    std::transform(integers.elements.begin(), integers.elements.end(), a.begin(),
                   [&](const Dyadic& x) { return x.mantissa == 0 ? 0 : field.of(x); });
    if (solve_modulo(field, integers.order, integers.width, a) == 0) return;
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
  for_each_prime(mine.size(), solve_one);
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

#define HEDDLE_INSTANTIATE(T)                                                                  \
  template void prove<T>(const PlacedMatrix<T>&, const PlacedMatrix<T>&, std::vector<Claim>&); \
  template std::optional<ExactDeterminant<T>> determinant_modulo_primes<T>(const PlacedMatrix<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
