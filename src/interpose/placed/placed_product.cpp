// Emulated products in doubles, by sums whose rounding is known.
#include "interpose/placed/placed_product.hpp"

#include "core/instantiate.hpp"
#include "exact/products/inner.hpp"
#include "interpose/blas/nearest.hpp"
#include "interpose/blas/off_stack.hpp"
#include "interpose/blas/sums.hpp"
#include "interpose/blas/threads.hpp"
#include "interpose/placed/placed_look.hpp"
#include "interpose/placed/placed_panels.hpp"

#include <atomic>
#include <bit>
#include <limits>
#include <memory>
#include <optional>

namespace heddle::impl::interpose {
namespace {

PanelMemory& memory() {
  thread_local PanelMemory the;
  return the;
}

// Return the Place of `inner`; the last one is kept.
template <Scalar T> const Place& place_for(Index inner) {
  thread_local Place last;
  if (last.inner != inner) last.prepare<T>(inner);
  return last;
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

  // `look`: how many moduli the factors of long sums want.
  [[gnu::noinline]] bool run(const std::function<int()>& look) {
    if (!take_all()) return false;
    if (product_.look && !overlap()) {
      const bool is_long = product_.k > longest_widened;
      const std::optional<int> moduli =
          is_long ? look() : moduli_wanted(product_, left_, right_, [&](const auto& body) { in_tiles(body); });
      if (!moduli) return false;
      const bool usual = *moduli == emulation_moduli<T>(product_.k);
      // Longer sums leave so many elements open that the library's methods are faster.
      if (!usual && *moduli != 0 && is_long) return false;
      if (*moduli == 0) {
        by_exact_sums();
        return true;
      }
      if (!usual) {
        place_.template prepare<T>(product_.k, *moduli);
        if (!take_all()) return false;
      }
    }
    if (product_.k * parts<T> <= depth) {
      in_blocks([&](Index i, Index j) {
        struct Tiles {
          PlacedTile planes[parts<T>];
        };
        const OffStack<Tiles> tiles;
        for (Index plane = 0; plane < parts<T>; ++plane) add(i, j, plane, 0, tiles->planes[plane]);
        finish(i, j, tiles->planes);
      });
    } else {
      by_pieces();
    }
    return true;
  }

 private:
  using Floats = const float (&)[panel_width];
  static constexpr Index longest_widened = 32;
  static constexpr Index depth = 256;  // Of products that are added to a tile at once.
  static constexpr Index high = 8;     // Panels of a block that stays in a cache.
  static constexpr Index wide = 16;

  // Factors as integers; false where there are none for a vector.
  [[nodiscard, gnu::noinline]] bool take_all() const {
    std::atomic<bool> possible{true};
    in_parts(left_.count() + right_.count(), threads_, [&](Index begin, Index end) {
      for (Index p = begin; p < end && possible; ++p) {
        const bool done = p < left_.count() ? take(left_, true, p) : take(right_, false, p - left_.count());
        if (!done) possible = false;
      }
    });
    return possible;
  }
  // Whether the usual number of moduli is enough.
  [[nodiscard, gnu::noinline]] bool overlap() const {
    std::atomic<bool> enough{true};
    in_blocks([&](Index i, Index j) {
      if (enough &&
          !panels_overlap(left_.leading_of(i), right_.leading_of(j), product_.k, least(left_, i), least(right_, j))) {
        enough = false;
      }
    });
    return enough;
  }
  static Floats least(const Panels<T>& panels, Index p) {
    return *reinterpret_cast<const float(*)[panel_width]>(panels.least + p * panel_width);
  }
  double* gather_panel(const Panels<T>& panels, bool left, Index p) const {
    const Operation op = left ? product_.op_a : product_.op_b;
    const T* const data = left ? product_.A : product_.B;
    const Index leading = left ? product_.leading_a : product_.leading_b;
    const bool by_rows = (op == Operation::none) == left;
    const Index vector = by_rows ? 1 : leading;
    const Index first = p * panel_width;
    double* const panel = panels.panel(p);
    gather(data + first * vector, vector, by_rows ? leading : 1, op == Operation::conjugate_transpose,
           std::min(panel_width, panels.vectors - first), panels.inner, panel);
    return panel;
  }
  [[gnu::noinline]] bool take(const Panels<T>& panels, bool left, Index p) const {
    const Index first = p * panel_width;
    double* const panel = gather_panel(panels, left, p);
    PanelMeasures measures;
    Raised raised;
    if (!measure_panel(panel, panels.inner, parts<T>, panels.leading_of(p), measures)) {
      raised.prepare(panel, panels.inner * parts<T>);
      if (!measure_panel(panel, panels.inner, parts<T>, panels.leading_of(p), measures)) return false;
    }
    panels.special[p] = raised.special;
    int scales[panel_width];
    // The norm in units of leading bits, over the root of what is below usual_spread for sure.
    constexpr double usual = 1.9966;
    static_assert(usual * usual < 0.997 * usual_spread);
    constexpr double unit = 0x1p-7 / usual;
    static_assert(norm_bits == 14);
    for (Index v = 0; v < panel_width; ++v) {
      scales[v] = scale_of(measures.squares[v], measures.largest_exponents[v], place_.square_of_reach);
      panels.exponents[first + v] = scales[v] + raised.by[v];
      panels.squares[first + v] = measures.squares[v];
      panels.largest[first + v] = measures.largest_exponents[v] - raised.by[v];
      panels.least[first + v] = static_cast<float>(std::sqrt(static_cast<double>(measures.squares[v])) * unit);
    }
    panels.multiples[p] = quantise_panel(panel, panels.inner * parts<T>, scales, place_.unit);
    if (panels.planes == 2) turn(panels, p);
    return true;
  }
  // Columns y, as rows have all real parts and then all imaginary ones: Re y, -Im y for the real part of products,
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
  [[gnu::noinline]] void by_pieces() const {
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
  // Exact sums of the factors as they are, rounded once.
  [[gnu::noinline]] void by_exact_sums() const {
    in_parts(left_.count() + right_.count(), threads_, [&](Index begin, Index end) {
      for (Index p = begin; p < end; ++p) {
        if (p < left_.count()) {
          gather_panel(left_, true, p);
        } else {
          gather_panel(right_, false, p - left_.count());
          if (right_.planes == 2) turn(right_, p - left_.count());
        }
      }
    });
    const Index inner = product_.k * parts<T>;
    in_tiles([&](Index begin_i, Index end_i, Index begin_j, Index end_j) {
      const auto work = std::make_unique<ExactTile>(inner);
      for (Index j = begin_j; j < end_j; ++j) {
        for (Index i = begin_i; i < end_i; ++i) exact_tile(i, j, *work);
      }
    });
  }
  struct ExactTile {
    RowSums sums[parts<T>];
    double result[parts<T>][RowSums::rows];
    bool known[parts<T>][RowSums::rows];
    std::vector<double> a;
    std::vector<double> b;
    explicit ExactTile(Index inner) : a(static_cast<std::size_t>(inner)), b(static_cast<std::size_t>(inner)) {
      for (RowSums& one : sums) one.clear(panel_width * panel_width);
    }
  };
  [[gnu::noinline]] void exact_tile(Index i, Index j, ExactTile& work) const {
    using R = Real<T>;
    const Index inner = product_.k * parts<T>;
    const Index columns = columns_of(j);
    const double underflow = sizeof(R) == 4 ? 0.0 : exact::Compensated::underflow(inner);
    for (Index plane = 0; plane < parts<T>; ++plane) {
      add_compensated(left_.panel(i), right_.panel(j, plane), inner, columns, work.sums[plane]);
      round_rows(work.sums[plane], columns * panel_width, underflow, sizeof(R) == 4, work.result[plane],
                 work.known[plane]);
    }
    const bool plain = product_.alpha == T{1} && product_.beta == T{0};
    const Index first = i * panel_width;
    const Index rows = std::min(panel_width, product_.m - first);
    for (Index c = 0; c < columns; ++c) {
      T* const target = product_.C + first + (j * panel_width + c) * product_.leading_c;
      for (Index r = 0; r < rows; ++r) {
        const Index e = c * panel_width + r;
        if (!plain) {
          target[r] = updated(i, r, j, c, work, target[r]);
          continue;
        }
        R value[parts<T>];
        for (Index plane = 0; plane < parts<T>; ++plane) {
          value[plane] =
              work.known[plane][e] ? static_cast<R>(work.result[plane][e]) : settled_element(i, r, j, c, plane, work);
        }
        if constexpr (is_complex<T>) {
          target[r] = T(value[0], value[1]);
        } else {
          target[r] = value[0];
        }
      }
    }
  }
  [[nodiscard]] Real<T> settled_element(Index i, Index r, Index j, Index c, Index plane, ExactTile& work) const {
    const Index inner = product_.k * parts<T>;
    for (Index k = 0; k < inner; ++k) {
      const auto at = static_cast<std::size_t>(k);
      work.a[at] = left_.panel(i)[k * panel_width + r];
      work.b[at] = right_.panel(j, plane)[k * panel_width + c];
    }
    return settled_sum<Real<T>>(inner, inner, [&](Index, Index) { return Factors{work.a.data(), work.b.data()}; });
  }
  // alpha S + beta c, rounded once.
  [[nodiscard, gnu::noinline]] T updated(Index i, Index r, Index j, Index c, const ExactTile& work,
                                         const T& before) const {
    namespace sums = exact::impl;
    const sums::Update<T> update{product_.alpha, product_.beta};
    sums::InnerSum<T> sum;
    const Index e = c * panel_width + r;
    for (Index plane = 0; plane < parts<T>; ++plane) {
      sum.part[plane] = work.sums[plane].of(e);
    }
    T result;
    if (update.rounds_to(sum, product_.k, before, result)) return result;
    sums_in_integers.fetch_add(1, std::memory_order_relaxed);
    const OffStack<sums::ExactSum<T>> exactly(std::in_place);
    for (Index plane = 0; plane < parts<T>; ++plane) {
      for (Index k = 0; k < product_.k * parts<T>; ++k) {
        exactly->part[plane].add_product(left_.panel(i)[k * panel_width + r],
                                         right_.panel(j, plane)[k * panel_width + c]);
      }
    }
    return update.exactly(*exactly, before, *OffStack<exact::bits::WideSum>());
  }
  [[nodiscard]] Index columns_of(Index j) const { return std::min(panel_width, product_.n - j * panel_width); }
  void add(Index i, Index j, Index plane, Index k, PlacedTile& tile) const {
    const Index count = std::min(depth, product_.k * parts<T> - k);
    add_products(left_.panel(i) + k * panel_width, right_.panel(j, plane) + k * panel_width, count, columns_of(j),
                 k == 0 ? place_.begin : 0.0, tile);
  }
  [[gnu::noinline]] void finish(Index i, Index j, PlacedTile* tiles) const {
    const Index first = i * panel_width;
    const Index rows = std::min(panel_width, product_.m - first);
    const bool special = (left_.special[i] | right_.special[j]) != 0;
    const OffStack<PlacedTile> kept;
    PlacedTile& before = *kept;
    for (Index plane = 0; plane < parts<T>; ++plane) {
      before = tiles[plane];
      const PlacedRounding rounding{place_.begin, place_.error, left_.exponents + first,
                                    right_.exponents + j * panel_width, sizeof(Real<T>) == 4};
      std::uint64_t zeros = 0;
      std::uint64_t open = ~round_tile(rounding, columns_of(j), tiles[plane], zeros);
      const std::uint64_t empty =
          (open & zeros) != 0 ? disjoint(left_.panel(i), right_.panel(j, plane), product_.k * parts<T>, open & zeros)
                              : 0;
      for (; open != 0; open &= open - 1) {
        const Index e = std::countr_zero(open);
        const Index r = e % panel_width;
        const Index c = e / panel_width;
        if (r >= rows || c >= columns_of(j)) continue;
        double& value = tiles[plane].high[c][r];
        if ((empty >> e & 1U) != 0) {
          value = 0.0;
          continue;
        }
        if (is_extreme(i, r, j, c, before, value)) continue;
        const bool lossless = (left_.multiples[i] >> r & right_.multiples[j] >> c & 1U) != 0;
        value = lossless && (zeros >> e & 1U) != 0 ? 0.0 : static_cast<double>(exactly(i, r, j, c, plane));
      }
    }
    for (Index c = 0; c < columns_of(j); ++c) {
      T* const target = product_.C + first + (j * panel_width + c) * product_.leading_c;
      if (product_.alpha == T{1} && product_.beta == T{0} && !special) {
        for (Index r = 0; r < rows; ++r) target[r] = together(tiles, r, c);
        continue;
      }
      for (Index r = 0; r < rows; ++r) {
        const bool plainly = special && ((left_.special[i] >> r | right_.special[j] >> c) & 1U) != 0;
        const T product = plainly ? summed_plainly(first + r, j * panel_width + c) : together(tiles, r, c);
        const T scaled = product_.alpha == T{1} ? product : multiply_add(product_.alpha, product, T{0});
        target[r] = product_.beta == T{0} ? scaled : multiply_add(product_.beta, target[r], scaled);
      }
    }
  }
  // An element that overflows or is below the normal numbers, if that is known, from a tile that is not rounded.
  [[nodiscard]] bool is_extreme(Index i, Index r, Index j, Index c, const PlacedTile& before, double& result) const {
    constexpr bool of_doubles = sizeof(Real<T>) == 8;
    constexpr int overflow = of_doubles ? 1024 : 128;
    constexpr int nothing = of_doubles ? -1077 : -152;
    exact::impl::Threefold sum;
    sum.sum = before.high[c][r] - place_.begin;
    sum.lost = before.low[c][r];
    const double value = sum.sum + sum.lost;
    if (!(std::abs(value) > 2.0 * place_.error)) return false;
    const auto scale = left_.exponents[i * panel_width + r] + right_.exponents[j * panel_width + c];
    // 2^(exponent - 1) <= |value| 2^-scale < 2^(exponent + 2), whatever was rounded.
    const auto field = static_cast<std::int64_t>(Format<double>::to_bits(std::abs(value)) >> Format<double>::fraction);
    const std::int64_t exponent = field - 1023 - scale;
    if (exponent - 1 >= overflow) {
      result = std::copysign(std::numeric_limits<double>::infinity(), value);
      return true;
    }
    if (exponent + 1 <= nothing) {
      result = std::copysign(0.0, value);
      return true;
    }
    if (!of_doubles || exponent >= -1022) return false;
    return rounds_to_denormal(sum, 1, place_.error, static_cast<int>(scale), result);
  }
  // A sum of what is not finite, in a fixed order.
  [[nodiscard]] T summed_plainly(Index row, Index column) const {
    const auto a = product_.left(row);
    const auto b = product_.right(column);
    const auto taken = [](Operation op, const T& x) { return op == Operation::conjugate_transpose ? conjugate(x) : x; };
    T sum{0};
    for (Index k = 0; k < product_.k; ++k) {
      sum = multiply_add(taken(product_.op_a, a[k]), taken(product_.op_b, b[k]), sum);
    }
    return sum;
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
  [[nodiscard, gnu::noinline]] Real<T> exactly(Index i, Index r, Index j, Index c, Index plane) const {
    const double* const a = left_.panel(i) + r;
    const double* const b = right_.panel(j, plane) + c;
    const auto exponent =
        static_cast<int>(left_.exponents[i * panel_width + r] + right_.exponents[j * panel_width + c]);
    // Most products of sparse factors are zeros.
    const auto for_each_product = [&](const auto& add) {
      for (Index k = 0; k < product_.k * parts<T>; ++k) {
        const double x = a[k * panel_width];
        const double y = b[k * panel_width];
        if (x != 0.0 && y != 0.0) add(x, y);
      }
    };
    if (!place_.narrow) {
      Integer256 sum;
      for_each_product(
          [&](double x, double y) { sum += Integer256(static_cast<Int128>(x)) * Integer256(static_cast<Int128>(y)); });
      return nearest_to<Real<T>>(sum, -exponent);
    }
    Int128 sum = 0;
    for_each_product(
        [&](double x, double y) { sum += Int128{static_cast<std::int64_t>(x)} * static_cast<std::int64_t>(y); });
    return nearest_to<Real<T>>(sum, -exponent);
  }

  const Product<T>& product_;
  int threads_;
  Place place_;
  Panels<T> left_;
  Panels<T> right_;
};

}  // namespace

template <Scalar T> bool multiply_placed(const Product<T>& product, int threads, const std::function<int()>& look) {
  if (!has_placed_sums()) return false;
  const Place& place = place_for<T>(product.k);
  if (!place.possible) return false;
  const bool done = PlacedProduct<T>(product, place, threads).run(look);
  memory().give_back();
  return done;
}

#define HEDDLE_INSTANTIATE(T) template bool multiply_placed<T>(const Product<T>&, int, const std::function<int()>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
