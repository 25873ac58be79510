#include "interpose/placed_product.hpp"

#include "core/instantiate.hpp"
#include "gemm/emulation/emulated.hpp"
#include "gemm/emulation/planes.hpp"
#include "interpose/nearest.hpp"
#include "interpose/placed.hpp"
#include "interpose/threads.hpp"

#include <atomic>
#include <bit>
#include <memory>

namespace heddle::impl::interpose {
namespace {

// Numbers that are not set to zero first, kept from call to call where they are few.
class Memory {
 public:
  double* take(std::size_t numbers) {
    if (numbers > size_) {
      all_ = std::make_unique_for_overwrite<double[]>(numbers + alignment);
      size_ = numbers;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(all_.get());
    return all_.get() + (alignment - address / sizeof(double) % alignment) % alignment;
  }
  void give_back() {
    if (size_ <= kept) return;
    all_.reset();
    size_ = 0;
  }

 private:
  static constexpr std::size_t alignment = 8;
  static constexpr std::size_t kept = std::size_t{1} << 22;
  std::unique_ptr<double[]> all_;
  std::size_t size_ = 0;
};
Memory& memory() {
  thread_local Memory the;
  return the;
}

// What products of an inner dimension have in common.
struct Place {
  Index inner = -1;
  bool possible = false;
  double square_of_reach = 0.0;
  double begin = 0.0;
  double error = 0.0;
  double unit = 1.0;  // Sums of products of its multiples lose nothing.

  template <Scalar T> void prepare(Index wanted) {
    inner = wanted;
    const ResidueSystem& system = residue_system(field_of<T>, emulation_moduli<T>(inner));
    // Leading bits' sums in floats are off by less than what `usual` leaves, and integers have 63 bits.
    constexpr Index most_inner = 16384;
    possible = inner <= most_inner && system.log2_product < 126.0;
    if (!possible) return;
    square_of_reach = square_of_reach_for(system, inner);
    // Sums, and all sums on the way, are below P / 2, up to roundings that `reach` has room for: from 1.5 2^e with
    // 2^e >= P on they stay between 2^e and 2^(e + 1), and each product loses at most 2^(e - 53) to the next double.
    const int e = static_cast<int>(std::ceil(system.log2_product + 0x1p-30));
    begin = std::ldexp(1.5, e);
    unit = std::ldexp(1.0, std::max(0, (e - 51) / 2));
    const auto terms = static_cast<double>(inner * parts<T>);
    // What is lost is a sum of integers, which is exact below 2^53. Else each loss is rounded at most by 2^(e - 106),
    // and as often as that each sum of them by terms times as much.
    const bool exact = std::ldexp(terms, e - 53) <= 0x1p53;
    error = exact ? 0.0 : std::ldexp(1.01 * terms * (terms + 1.0), e - 106);
  }
};
// Of the last inner dimension that was asked for.
template <Scalar T> const Place& place_for(Index inner) {
  thread_local Place last;
  if (last.inner != inner) last.prepare<T>(inner);
  return last;
}

// Vectors of one factor in panels.
template <Scalar T> struct Panels {
  Index vectors = 0;
  Index inner = 0;
  Index planes = 1;  // Of numbers for each panel: two for columns of complex numbers.
  double* numbers = nullptr;
  float* leading = nullptr;
  std::int64_t* exponents = nullptr;
  float* least = nullptr;
  std::uint64_t* multiples = nullptr;  // Of each panel, of which vectors all integers are multiples of Place::unit.

  [[nodiscard]] Index count() const { return (vectors + panel_width - 1) / panel_width; }
  [[nodiscard]] Index size() const { return inner * parts<T> * panel_width; }
  [[nodiscard]] double* panel(Index p, Index plane = 0) const { return numbers + (p * planes + plane) * size(); }
  [[nodiscard]] float* leading_of(Index p) const { return leading + p * inner * panel_width; }
  // Of doubles in all.
  [[nodiscard]] std::size_t needed() const {
    return static_cast<std::size_t>(count() * (planes * size() + inner * panel_width / 2 + 3 * panel_width));
  }
  double* place_at(double* begin) {
    numbers = begin;
    begin += count() * planes * size();
    exponents = reinterpret_cast<std::int64_t*>(begin);
    begin += count() * panel_width;
    leading = reinterpret_cast<float*>(begin);
    begin += count() * inner * panel_width / 2;
    least = reinterpret_cast<float*>(begin);
    begin += count() * panel_width;
    multiples = reinterpret_cast<std::uint64_t*>(begin);
    return begin + count() * panel_width;
  }
};

// Element (k, v) of a panel from x[k * element + v * vector].
template <Scalar T>
void gather(const T* x, Index vector, Index element, bool conjugated, Index there, Index inner, double* panel) {
  const auto put = [&](Index k, Index v) {
    const T& value = x[k * element + v * vector];
    panel[k * panel_width + v] = real_of<double>(value);
    if constexpr (is_complex<T>) {
      const auto imaginary = static_cast<double>(value.imag());
      panel[(inner + k) * panel_width + v] = conjugated ? -imaginary : imaginary;
    }
  };
  if (there < panel_width) std::fill_n(panel, inner * parts<T> * panel_width, 0.0);
  if (vector == 1 && there == panel_width) {
    for (Index k = 0; k < inner; ++k) {
      for (Index v = 0; v < panel_width; ++v) put(k, v);
    }
    return;
  }
  constexpr Index run = 64;
  for (Index first = 0; first < inner; first += run) {
    const Index end = std::min(inner, first + run);
    for (Index v = 0; v < there; ++v) {
      for (Index k = first; k < end; ++k) put(k, v);
    }
  }
}

template <Scalar T> class PlacedProduct {
 public:
  PlacedProduct(const Product<T>& product, const Place& place, int threads)
      : product_(product), threads_(threads), place_(place) {
    left_.vectors = product.m;
    right_.vectors = product.n;
    left_.inner = right_.inner = product.k;
    right_.planes = parts<T>;
    right_.place_at(left_.place_at(memory().take(left_.needed() + right_.needed())));
  }

  bool run() {
    std::atomic<bool> possible{true};
    in_parts(left_.count() + right_.count(), threads_, [&](Index begin, Index end) {
      for (Index p = begin; p < end && possible; ++p) {
        const bool done = p < left_.count() ? take(left_, true, p) : take(right_, false, p - left_.count());
        if (!done) possible = false;
      }
    });
    if (possible && product_.look) {
      in_blocks([&](Index i, Index j) {
        if (possible &&
            !panels_overlap(left_.leading_of(i), right_.leading_of(j), product_.k, least(left_, i), least(right_, j))) {
          possible = false;
        }
      });
    }
    if (!possible) return false;
    if (product_.k * parts<T> <= depth) {
      in_blocks([&](Index i, Index j) {
        PlacedTile tiles[parts<T>];
        for (Index plane = 0; plane < parts<T>; ++plane) add(i, j, plane, 0, tiles[plane]);
        finish(i, j, tiles);
      });
    } else {
      by_pieces();
    }
    return true;
  }

 private:
  using Floats = const float (&)[panel_width];
  static constexpr Index depth = 256;  // Of products that are added to a tile at once.
  static constexpr Index high = 8;     // Panels of a block that stays in a cache.
  static constexpr Index wide = 16;

  static Floats least(const Panels<T>& panels, Index p) {
    return *reinterpret_cast<const float(*)[panel_width]>(panels.least + p * panel_width);
  }
  bool take(const Panels<T>& panels, bool left, Index p) const {
    const Operation op = left ? product_.op_a : product_.op_b;
    const T* const data = left ? product_.A : product_.B;
    const Index leading = left ? product_.leading_a : product_.leading_b;
    const bool by_rows = (op == Operation::none) == left;
    const Index vector = by_rows ? 1 : leading;
    const Index first = p * panel_width;
    double* const panel = panels.panel(p);
    gather(data + first * vector, vector, by_rows ? leading : 1, op == Operation::conjugate_transpose,
           std::min(panel_width, panels.vectors - first), panels.inner, panel);
    PanelMeasures measures;
    if (!measure_panel(panel, panels.inner, parts<T>, panels.leading_of(p), measures)) return false;
    int scales[panel_width];
    // The norm in units of leading bits, over the root of what is below usual_spread for sure.
    constexpr double usual = 1.9966;
    static_assert(usual * usual < 0.997 * usual_spread);
    constexpr double unit = 0x1p-7 / usual;
    static_assert(norm_bits == 14);
    for (Index v = 0; v < panel_width; ++v) {
      scales[v] = scale_of(measures.squares[v], measures.largest_exponents[v], place_.square_of_reach);
      panels.exponents[first + v] = scales[v];
      panels.least[first + v] = static_cast<float>(std::sqrt(static_cast<double>(measures.squares[v])) * unit);
    }
    panels.multiples[p] = quantise_panel(panel, panels.inner * parts<T>, scales, place_.unit);
    if (panels.planes == 2) turn(panels, p);
    return true;
  }
  // Of columns y, as rows have all real parts and then all imaginary ones: Re y, -Im y for the real part of products,
  // Im y, Re y for the imaginary one.
  static void turn(const Panels<T>& panels, Index p) {
    const Index half = panels.size() / 2;
    double* const real = panels.panel(p, 0);
    double* const imaginary = panels.panel(p, 1);
    for (Index e = 0; e < half; ++e) {
      imaginary[e] = real[half + e];
      imaginary[half + e] = real[e];
      real[half + e] = -real[half + e];
    }
  }

  // body(begin_i, end_i, begin_j, end_j): parts of all tiles, by threads.
  template <class Body> void in_tiles(const Body& body) const {
    const Index rows = left_.count();
    const Index columns = right_.count();
    const bool by_columns = columns >= rows;
    in_parts(by_columns ? columns : rows, threads_, [&](Index begin, Index end) {
      if (by_columns) {
        body(Index{0}, rows, begin, end);
      } else {
        body(begin, end, Index{0}, columns);
      }
    });
  }
  // body(i, j) for all tiles, blocks of rows after each other.
  template <class Body> void in_blocks(const Body& body) const {
    in_tiles([&](Index begin_i, Index end_i, Index begin_j, Index end_j) {
      for (Index first = begin_i; first < end_i; first += high) {
        for (Index j = begin_j; j < end_j; ++j) {
          for (Index i = first; i < std::min(end_i, first + high); ++i) body(i, j);
        }
      }
    });
  }
  // Some elements of all vectors after the others, so that what is multiplied stays in the caches.
  void by_pieces() const {
    const Index inner = product_.k * parts<T>;
    in_tiles([&](Index begin_i, Index end_i, Index begin_j, Index end_j) {
      const auto tiles = std::make_unique<PlacedTile[]>(static_cast<std::size_t>(high * wide * parts<T>));
      for (Index first_j = begin_j; first_j < end_j; first_j += wide) {
        for (Index first_i = begin_i; first_i < end_i; first_i += high) {
          for (Index k = 0; k < inner; k += depth) {
            for (Index j = first_j; j < std::min(end_j, first_j + wide); ++j) {
              for (Index i = first_i; i < std::min(end_i, first_i + high); ++i) {
                PlacedTile* const own = tiles.get() + ((j - first_j) * high + i - first_i) * parts<T>;
                for (Index plane = 0; plane < parts<T>; ++plane) add(i, j, plane, k, own[plane]);
                if (k + depth >= inner) finish(i, j, own);
              }
            }
          }
        }
      }
    });
  }
  [[nodiscard]] Index columns_of(Index j) const { return std::min(panel_width, product_.n - j * panel_width); }
  void add(Index i, Index j, Index plane, Index k, PlacedTile& tile) const {
    const Index count = std::min(depth, product_.k * parts<T> - k);
    add_products(left_.panel(i) + k * panel_width, right_.panel(j, plane) + k * panel_width, count, columns_of(j),
                 k == 0 ? place_.begin : 0.0, tile);
  }
  void finish(Index i, Index j, PlacedTile* tiles) const {
    const Index first = i * panel_width;
    const Index rows = std::min(panel_width, product_.m - first);
    for (Index plane = 0; plane < parts<T>; ++plane) {
      const PlacedRounding rounding{place_.begin, place_.error, left_.exponents + first,
                                    right_.exponents + j * panel_width, sizeof(Real<T>) == 4};
      std::uint64_t zeros = 0;
      std::uint64_t open = ~round_tile(rounding, columns_of(j), tiles[plane], zeros);
      for (; open != 0; open &= open - 1) {
        const Index e = std::countr_zero(open);
        const Index r = e % panel_width;
        const Index c = e / panel_width;
        if (r >= rows || c >= columns_of(j)) continue;
        const bool lossless = (left_.multiples[i] >> r & right_.multiples[j] >> c & 1U) != 0;
        tiles[plane].high[c][r] =
            lossless && (zeros >> e & 1U) != 0 ? 0.0 : static_cast<double>(exactly(i, r, j, c, plane));
      }
    }
    for (Index c = 0; c < columns_of(j); ++c) {
      T* const target = product_.C + first + (j * panel_width + c) * product_.leading_c;
      if (product_.alpha == T{1} && product_.beta == T{0}) {
        for (Index r = 0; r < rows; ++r) target[r] = together(tiles, r, c);
        continue;
      }
      for (Index r = 0; r < rows; ++r) {
        const T product = together(tiles, r, c);
        const T scaled = product_.alpha == T{1} ? product : multiply_add(product_.alpha, product, T{0});
        target[r] = product_.beta == T{0} ? scaled : multiply_add(product_.beta, target[r], scaled);
      }
    }
  }
  // An element of a tile that was rounded.
  static T together(const PlacedTile* tiles, Index r, Index c) {
    using R = Real<T>;
    if constexpr (is_complex<T>) {
      return T(static_cast<R>(tiles[0].high[c][r]), static_cast<R>(tiles[1].high[c][r]));
    } else {
      return static_cast<R>(tiles[0].high[c][r]);
    }
  }
  // Element (r, c) of a tile by integers.
  [[nodiscard]] Real<T> exactly(Index i, Index r, Index j, Index c, Index plane) const {
    const double* const a = left_.panel(i) + r;
    const double* const b = right_.panel(j, plane) + c;
    Int128 sum = 0;
    for (Index k = 0; k < product_.k * parts<T>; ++k) {
      sum += Int128{static_cast<std::int64_t>(a[k * panel_width])} * static_cast<std::int64_t>(b[k * panel_width]);
    }
    const auto exponent =
        static_cast<int>(left_.exponents[i * panel_width + r] + right_.exponents[j * panel_width + c]);
    return nearest_to<Real<T>>(sum, -exponent);
  }

  const Product<T>& product_;
  int threads_;
  const Place& place_;
  Panels<T> left_;
  Panels<T> right_;
};

}  // namespace

template <Scalar T> bool multiply_placed(const Product<T>& product, int threads) {
  if (!has_placed_sums()) return false;
  const Place& place = place_for<T>(product.k);
  if (!place.possible) return false;
  const bool done = PlacedProduct<T>(product, place, threads).run();
  memory().give_back();
  return done;
}

#define HEDDLE_INSTANTIATE(T) template bool multiply_placed<T>(const Product<T>&, int)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
