// How many moduli a placed product wants where the usual number is not known to be enough.
#pragma once

#include "emulation/probe.hpp"
#include "interpose/blas/product.hpp"
#include "interpose/placed/placed_panels.hpp"

#include <atomic>
#include <bit>
#include <mutex>
#include <optional>
#include <vector>

namespace heddle::impl::interpose {

/// An element that leading bits leave open, by more of its factors' bits.
template <Scalar T> class Undecided {
 public:
  explicit Undecided(const Product<T>& product) : product_(product), width_(leading_width(product.k)) {}

  /// Which elements of the vectors are not zero, 64 at a time, with which most elements of sparse factors are decided.
  class Present {
   public:
    Present(Operation op, const T* data, Index leading, bool left, Index count, Index inner)
        : words_((inner + 63) / 64), bits_(static_cast<std::size_t>(words_ * count)) {
      const bool by_rows = (op == Operation::none) == left;
      for (Index v = 0; v < count; ++v) {
        for (Index k = 0; k < inner; ++k) {
          const T& x = data[by_rows ? v + k * leading : k + v * leading];
          bits_[static_cast<std::size_t>(v * words_ + k / 64)] |= std::uint64_t{x != T{0}} << (k % 64);
        }
      }
    }
    [[nodiscard]] const std::uint64_t* of(Index v) const { return bits_.data() + v * words_; }
    [[nodiscard]] Index words() const { return words_; }

   private:
    Index words_;
    std::vector<std::uint64_t> bits_;
  };

  void look(const Panels<T>& left, const Present& rows, Index row, const Panels<T>& right, const Present& columns,
            Index column, double unit, Probed& seen, int& excess) {
    const auto a = product_.left(row);
    const auto b = product_.right(column);
    const int row_exponent = static_cast<int>(left.largest[row]);
    const int column_exponent = static_cast<int>(right.largest[column]);
    std::int32_t sums[overlap_count] = {};
    const std::uint64_t most = (std::uint64_t{1} << width_) - 1;
    const std::uint64_t* const of_row = rows.of(row);
    const std::uint64_t* const of_column = columns.of(column);
    for (Index word = 0; word < rows.words(); ++word) {
      for (std::uint64_t both = of_row[word] & of_column[word]; both != 0; both &= both - 1) {
        const Index k = 64 * word + std::countr_zero(both);
        const std::uint64_t x = magnitude_bits(a[k]);
        const std::uint64_t y = magnitude_bits(b[k]);
        const std::uint64_t more_x = leading_bits(x, row_exponent, width_ + far_bits);
        const std::uint64_t more_y = leading_bits(y, column_exponent, width_ + far_bits);
        const auto near_x = static_cast<std::int32_t>(more_x >> far_bits);
        const auto near_y = static_cast<std::int32_t>(more_y >> far_bits);
        const auto far_x = static_cast<std::int32_t>(std::min(more_x, most));
        const auto far_y = static_cast<std::int32_t>(std::min(more_y, most));
        sums[near_near] += near_x * near_y;
        sums[near_far] += near_x * far_y;
        sums[far_near] += far_x * near_y;
        sums[far_far] += far_x * far_y;
        ++sums[present];
      }
    }
    if (sums[present] == 0) return;
    using Matrix = MatrixView<const T>;
    const Overlaps<T> looked_at{
        sums,
        1,
        1,
        overlap_count,
        left.squares + row,
        right.squares + column,
        &row_exponent,
        &column_exponent,
        unit,
        Operand<T>(Matrix(a.first, Kokkos::LayoutStride(1, 1, static_cast<std::size_t>(product_.k),
                                                        static_cast<std::size_t>(a.step))),
                   Operation::none),
        Operand<T>(Matrix(b.first, Kokkos::LayoutStride(1, 1, static_cast<std::size_t>(product_.k),
                                                        static_cast<std::size_t>(b.step))),
                   Operation::transpose),
        product_.k};
    const Index before = seen.undecided;
    probe_element(looked_at, Index{0}, Index{0}, seen);
    if (seen.undecided > before) excess = std::max(excess, looked_at.excess(0, 0));
  }

 private:
  const Product<T>& product_;
  int width_;
};

/// How many moduli the factors want, as EmulatedProduct::probe() and choose_emulation() have it, 0 where no number is
/// enough; none where that is not to be known here.
template <Scalar T, class InTiles>
std::optional<int> moduli_wanted(const Product<T>& product, const Panels<T>& left, const Panels<T>& right,
                                 const InTiles& in_tiles) {
  if (product.k > most_exact_inner) return std::nullopt;
  const int width = leading_width(product.k);
  const double unit = std::ldexp(1.0, 4 * (width - norm_bits));
  const Index worth = worth_deciding(product.m * product.n);
  using Present = typename Undecided<T>::Present;
  const Present rows(product.op_a, product.A, product.leading_a, true, product.m, product.k);
  const Present columns(product.op_b, product.B, product.leading_b, false, product.n, product.k);
  std::mutex mutex;
  std::atomic<Index> undecided{0};
  double square = 0.0;
  int excess = 0;
  in_tiles([&](Index begin_i, Index end_i, Index begin_j, Index end_j) {
    TileSpread spread;
    Probed far;
    int own_excess = 0;
    Undecided<T> open(product);
    for (Index j = begin_j; j < end_j; ++j) {
      for (Index i = begin_i; i < end_i && undecided <= worth; ++i) {
        double squares_a[panel_width];
        double squares_b[panel_width];
        for (Index v = 0; v < panel_width; ++v) {
          squares_a[v] = static_cast<double>(left.squares[i * panel_width + v]);
          squares_b[v] = static_cast<double>(right.squares[j * panel_width + v]);
        }
        add_tile_spread(left.leading_of(i), right.leading_of(j), product.k, squares_a, squares_b, unit, spread);
        for (std::uint64_t rest = spread.undecided; rest != 0; rest &= rest - 1) {
          const Index e = std::countr_zero(rest);
          const Index row = i * panel_width + e % panel_width;
          const Index column = j * panel_width + e / panel_width;
          const Index before = far.undecided;
          open.look(left, rows, row, right, columns, column, unit, far, own_excess);
          undecided += far.undecided - before;
        }
      }
    }
    const std::scoped_lock lock(mutex);
    square = std::max({square, spread.square, far.square});
    excess = std::max(excess, own_excess);
  });
  Spread spread{std::sqrt(square), undecided};
  if (spread.undecided > 0 && spread.undecided <= worth) {
    spread.ratio = std::max(spread.ratio, std::ldexp(1.0, excess));
  }
  const EmulationReport report =
      choose_emulation<T>(product.k, product.m * product.n, spread, {.fallback = Fallback::exact});
  return report.moduli;
}
}  // namespace heddle::impl::interpose
