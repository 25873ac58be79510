// Eigenvectors of Schur forms by substitution.
#include "interpose/eigen/schur_vectors.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/blas/sums.hpp"
#include "interpose/eigen/fixed_order.hpp"

#include <limits>

namespace heddle::impl::interpose {
namespace {

// One eigenvalue's vector: elements of real matrices' are complex, too, where the eigenvalue is.
template <Scalar T> class Substitution {
 public:
  using R = Real<T>;
  using Z = Kokkos::complex<R>;
  using Vector = std::vector<T>;

  Substitution(Index n, const T* S, Index leading)
      : n_(n), S_(S), leading_(leading), re_(count(n)), im_(count(is_complex<T> ? 0 : n)) {}

  // The block that row j is in.
  [[nodiscard]] Index begin_of(Index j) const { return !is_complex<T> && j > 0 && at(j, j - 1) != T{0} ? j - 1 : j; }
  [[nodiscard]] Index end_of(Index j) const {
    return !is_complex<T> && j + 1 < n_ && at(j + 1, j) != T{0} ? j + 2 : j + 1;
  }

  // Solve for the vectors of the block [begin, end): elements 0 ... end - 1, or `begin` ... n - 1 of left ones.
  void solve(bool left, Index begin, Index end) {
    std::fill(re_.begin(), re_.end(), T{0});
    std::fill(im_.begin(), im_.end(), T{0});
    pair_ = end - begin == 2;
    begin_with(left, begin, end);
    least_ = std::max(2 * unit_roundoff<R> * size_of(value_),
                      static_cast<R>(n_) * (std::numeric_limits<R>::min() / unit_roundoff<R>));
    if (left) {
      for (Index j = end; j < n_; j = end_of(j)) {
        Z sums[2];
        for (Index q = j; q < end_of(j); ++q) sums[q - j] = product_with_column(begin, j, q);
        solve_block(true, j, end_of(j), sums);
      }
      return;
    }
    for (Index j = begin; j < end; ++j) subtract_column(j, begin);
    for (Index last = begin; last > 0;) {
      const Index first = begin_of(last - 1);
      Z sums[2];
      for (Index q = first; q < last; ++q) sums[q - first] = element(q);
      solve_block(false, first, last, sums);
      for (Index q = first; q < last; ++q) subtract_column(q, first);
      last = first;
    }
  }
  void store(Index begin, Index end, T* columns) const {
    std::copy(re_.begin(), re_.end(), columns + begin * n_);
    if (end - begin == 2) std::copy(im_.begin(), im_.end(), columns + (begin + 1) * n_);
  }

 private:
  static std::size_t count(Index k) { return static_cast<std::size_t>(k); }
  [[nodiscard]] const T& at(Index i, Index j) const { return S_[i + j * leading_]; }
  [[nodiscard]] Z element(Index i) const {
    if constexpr (is_complex<T>) {
      return re_[count(i)];
    } else {
      return Z(re_[count(i)], im_[count(i)]);
    }
  }
  void set(Index i, const Z& x) {
    if constexpr (is_complex<T>) {
      re_[count(i)] = x;
    } else {
      re_[count(i)] = x.real();
      im_[count(i)] = x.imag();
    }
  }

  // The elements in the block itself.
  void begin_with(bool left, Index begin, Index end) {
    if constexpr (is_complex<T>) {
      value_ = left ? conjugate(at(begin, begin)) : at(begin, begin);
      set(begin, Z(1));
    } else {
      value_ = Z(at(begin, begin));
      if (end - begin == 1) {
        set(begin, Z(1));
        return;
      }
      const R above = at(begin, begin + 1);
      const R below = at(begin + 1, begin);
      const R imaginary = std::sqrt(std::abs(above)) * std::sqrt(std::abs(below));
      // The eigenvalue has the positive imaginary part; left vectors are those of the transpose and its conjugate.
      value_ = Z(at(begin, begin), left ? -imaginary : imaginary);
      const R one = left ? below : above;
      const R other = left ? above : below;
      if (std::abs(one) >= std::abs(other)) {
        set(begin, Z(1));
        set(begin + 1, Z(0, value_.imag() / one));
      } else {
        set(begin, Z(0, value_.imag() / other));
        set(begin + 1, Z(1));
      }
    }
  }
  // Elements 0 ... above - 1 less those of column j times x_j.
  void subtract_column(Index j, Index above) {
    const T* const column = S_ + j * leading_;
    const Z x = element(j);
    if constexpr (is_complex<T>) {
      for (Index i = 0; i < above; ++i) re_[count(i)] -= product(column[i], x);
    } else {
      const R re = x.real();
      const R im = x.imag();
      for (Index i = 0; i < above; ++i) re_[count(i)] -= column[i] * re;
      if (!pair_) return;
      for (Index i = 0; i < above; ++i) im_[count(i)] -= column[i] * im;
    }
  }
  // - sum conj(S_ij) x_i over rows begin ... end - 1.
  [[nodiscard]] Z product_with_column(Index begin, Index end, Index j) const {
    const T* const column = S_ + begin + j * leading_;
    const T re = fixed_dot(end - begin, column, re_.data() + begin);
    if constexpr (is_complex<T>) {
      return -re;
    } else {
      return Z(-re, pair_ ? -fixed_dot(end - begin, column, im_.data() + begin) : R{0});
    }
  }

  // (B - w) x = b, or (B^H - w') x = b, of a block on the diagonal.
  void solve_block(bool left, Index first, Index end, Z (&b)[2]) {
    Z x[2];
    if (end - first == 1) {
      Z pivot = left ? Z(conjugate(at(first, first))) - value_ : Z(at(first, first)) - value_;
      if (!(size_of(pivot) >= least_)) pivot = Z(least_);
      make_room(size_of(b[0]), size_of(pivot), b);
      x[0] = divided(b[0], pivot);
    } else {
      const auto element_of = [&](Index i, Index j) {
        return left ? at(first + j, first + i) : at(first + i, first + j);
      };
      Z rows[2][2];
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) rows[i][j] = Z(element_of(i, j)) - (i == j ? value_ : Z(0));
      }
      solve_two(rows, b, x);
    }
    for (Index i = first; i < end; ++i) set(i, x[i - first]);
    keep_small(first, end);
  }
  // By elimination with the larger element of the first column as its pivot.
  void solve_two(const Z (&rows)[2][2], Z (&b)[2], Z (&x)[2]) {
    const int one = size_of(rows[0][0]) >= size_of(rows[1][0]) ? 0 : 1;
    const int other = 1 - one;
    Z pivot = rows[one][0];
    if (!(size_of(pivot) >= least_)) pivot = Z(least_);
    const Z factor = divided(rows[other][0], pivot);
    Z rest = rows[other][1] - product(factor, rows[one][1]);
    if (!(size_of(rest) >= least_)) rest = Z(least_);
    make_room(size_of(b[0]) + size_of(b[1]), std::min(size_of(rest), size_of(pivot)), b);
    x[1] = divided(Z(b[other] - product(factor, b[one])), rest);
    x[0] = divided(Z(b[one] - product(rows[one][1], x[1])), pivot);
  }

  // All is scaled down where a quotient of these sizes would be near to what overflows.
  void make_room(R above, R below, Z (&b)[2]) {
    constexpr int most = std::numeric_limits<R>::max_exponent / 4;
    if (!(above > R{0}) || !std::isfinite(above)) return;
    const int excess = std::ilogb(above) - std::ilogb(below) - most;
    if (excess <= 0) return;
    scale(-excess);
    for (Z& one : b) one = scaled(one, -excess);
  }
  // And where new elements are large, whose products with others are to be added.
  void keep_small(Index first, Index end) {
    constexpr int most = std::numeric_limits<R>::max_exponent / 4;
    R largest{0};
    for (Index i = first; i < end; ++i) largest = std::max(largest, size_of(element(i)));
    if (std::isfinite(largest) && largest > R{0} && std::ilogb(largest) > most) scale(-std::ilogb(largest));
  }
  void scale(int exponent) {
    for (T& x : re_) x = scaled(x, exponent);
    for (T& x : im_) x = scaled(x, exponent);
  }

  Index n_;
  const T* S_;
  Index leading_;
  Vector re_;
  Vector im_;
  Z value_;
  bool pair_ = false;
  R least_{0};
};

}  // namespace

template <Scalar T> std::vector<T> schur_vectors(bool left, Index n, const T* S, Index leading) {
  const Arithmetic arithmetic;
  std::vector<T> all(static_cast<std::size_t>(n * n));
  constexpr Index worth_threads = 200;
  in_parts(n, n < worth_threads ? 1 : usual_threads(), [&](Index begin, Index end) {
    Substitution<T> substitution(n, S, leading);
    for (Index k = begin; k < end; ++k) {
      // A block belongs to the part that its first row is in.
      if (substitution.begin_of(k) < k) continue;
      const Index after = substitution.end_of(k);
      substitution.solve(left, k, after);
      substitution.store(k, after, all.data());
    }
  });
  return all;
}

#define HEDDLE_INSTANTIATE(T) template std::vector<T> schur_vectors<T>(bool, Index, const T*, Index)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
