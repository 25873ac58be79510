// Schur form of general matrices, by implicit QR steps in a fixed sequence of operations.
#include "interpose/eigen/schur.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/blas/sums.hpp"
#include "interpose/eigen/fixed_order.hpp"
#include "interpose/eigen/standard_block.hpp"

#include <limits>
#include <vector>

namespace heddle::impl::interpose {
namespace {

template <class T> inline constexpr int order_of_reflectors = is_complex<T> ? 2 : 3;

// The root with a real part of no sign, of numbers whose squares neither overflow nor vanish.
template <RealScalar R> Kokkos::complex<R> square_root(const Kokkos::complex<R>& z) {
  const R size = std::sqrt(z.real() * z.real() + z.imag() * z.imag());
  const R root = std::sqrt((std::abs(z.real()) + size) / 2);
  if (!(root > R{0})) return {};
  const R other = z.imag() / (2 * root);
  return z.real() >= R{0} ? Kokkos::complex<R>(root, other)
                          : Kokkos::complex<R>(std::abs(other), std::copysign(root, z.imag()));
}

// I - tau v v^H of rows or columns first ... first + order - 1, v_0 = 1.
template <Scalar T> struct Reflection {
  Index first;
  int order;
  T tau;
  T v[order_of_reflectors<T>];

  // That turns (x_0, x_1, x_2) to (beta, 0, 0), beta real, by its adjoint.
  Reflection(Index at, int count, const T* x, Real<T>& beta) : first(at), order(count), tau(0) {
    using R = Real<T>;
    R largest{0};
    R below{0};
    for (int i = 0; i < order; ++i) {
      largest = std::max(largest, largest_part(x[i]));
      if (i > 0) below = std::max(below, largest_part(x[i]));
      v[i] = T{0};
    }
    beta = real_of<R>(x[0]);
    if (!(below > R{0} || imaginary_of<R>(x[0]) != R{0}) || !std::isfinite(largest)) return;
    const int exponent = std::ilogb(largest);
    T y[order_of_reflectors<T>];
    R sum{0};
    for (int i = 0; i < order; ++i) {
      y[i] = scaled(x[i], -exponent);
      sum += real_of<R>(y[i]) * real_of<R>(y[i]);
      sum += imaginary_of<R>(y[i]) * imaginary_of<R>(y[i]);
    }
    const R length = std::copysign(std::sqrt(sum), -real_of<R>(y[0]));
    const T gap = y[0] - T(length);
    if constexpr (is_complex<T>) {
      tau = T((length - y[0].real()) / length, -y[0].imag() / length);
    } else {
      tau = (length - y[0]) / length;
    }
    v[0] = T{1};
    for (int i = 1; i < order; ++i) v[i] = divided(y[i], gap);
    beta = std::scalbn(length, exponent);
  }

  // Its adjoint from the left, on columns begin ... end - 1.
  void apply_left(Index begin, Index end, T* A, Index leading) const {
    if (order == 2) {
      apply_left_by<2>(begin, end, A, leading);
    } else {
      apply_left_by<order_of_reflectors<T>>(begin, end, A, leading);
    }
  }
  // From the right, on rows begin ... end - 1.
  void apply_right(Index begin, Index end, T* A, Index leading) const {
    if (order == 2) {
      apply_right_by<2>(begin, end, A, leading);
    } else {
      apply_right_by<order_of_reflectors<T>>(begin, end, A, leading);
    }
  }
  // Its adjoint from the left, on `columns` columns whose elements of a row are side by side.
  template <Index columns> void apply_abreast(T* rows) const {
    if (order == 2) {
      apply_abreast_by<columns, 2>(rows);
    } else {
      apply_abreast_by<columns, order_of_reflectors<T>>(rows);
    }
  }

 private:
  template <Index columns, int count> void apply_abreast_by(T* rows) const {
    const T factor = conjugate(tau);
    T of[count];
    for (int i = 0; i < count; ++i) of[i] = v[i];
    T sums[columns];
    for (Index c = 0; c < columns; ++c) {
      T sum = rows[c];
      for (int i = 1; i < count; ++i) sum += product(conjugate(of[i]), rows[i * columns + c]);
      sums[c] = product(factor, sum);
    }
    for (Index c = 0; c < columns; ++c) rows[c] -= sums[c];
    for (int i = 1; i < count; ++i) {
      for (Index c = 0; c < columns; ++c) rows[i * columns + c] -= product(of[i], sums[c]);
    }
  }
  template <int count> void apply_left_by(Index begin, Index end, T* A, Index leading) const {
    const T factor = conjugate(tau);
    for (Index j = begin; j < end; ++j) {
      T* const x = A + first + j * leading;
      T sum = x[0];
      for (int i = 1; i < count; ++i) sum += product(conjugate(v[i]), x[i]);
      sum = product(factor, sum);
      x[0] -= sum;
      for (int i = 1; i < count; ++i) x[i] -= product(v[i], sum);
    }
  }
  template <int count> void apply_right_by(Index begin, Index end, T* A, Index leading) const {
    T* const x = A + first * leading;
    T of[count];
    T by[count];
    for (int i = 0; i < count; ++i) {
      of[i] = v[i];
      by[i] = i == 0 ? tau : product(tau, conjugate(v[i]));
    }
#pragma GCC ivdep
    for (Index r = begin; r < end; ++r) {
      T sum = x[r];
      for (int i = 1; i < count; ++i) sum += product(x[r + i * leading], of[i]);
      for (int i = 0; i < count; ++i) x[r + i * leading] -= product(sum, by[i]);
    }
  }
};

template <Scalar T> class Iteration {
 public:
  using R = Real<T>;
  Iteration(bool whole, Index n, Index low, Index high, T* H, Index leading, Kokkos::complex<R>* w, T* Z,
            Index leading_z)
      : whole_(whole), n_(n), low_(low), high_(high), H_(H), leading_(leading), w_(w), Z_(Z), leading_z_(leading_z) {}

  Index run() {
    for (Index i = 0; i < n_; ++i) {
      if (i < low_ || i >= high_) w_[i] = complex_of(h(i, i));
    }
    const Index most = 30 * std::max<Index>(10, high_ - low_);
    for (Index last = high_ - 1; last >= low_;) {
      Index first = low_;
      for (Index number = 0;; ++number) {
        first = begin_of_block(first, last);
        if (first > low_) h(first, first - 1) = T{0};
        if (last - first < (is_complex<T> ? 1 : 2)) break;
        if (number == most) return last + 1;
        sweep(first, last, number);
      }
      if (first == last) {
        w_[last] = complex_of(h(last, last));
      } else {
        if constexpr (!is_complex<T>) split(first);
      }
      last = first - 1;
    }
    return 0;
  }

 private:
  T& h(Index i, Index j) { return H_[i + j * leading_]; }
  static Kokkos::complex<R> complex_of(const T& x) { return {real_of<R>(x), imaginary_of<R>(x)}; }

  // The first row of the last block that no negligible element separates.
  Index begin_of_block(Index least, Index last) {
    constexpr R unit = 2 * unit_roundoff<R>;
    const R nothing = std::numeric_limits<R>::min() / unit * static_cast<R>(high_ - low_);
    Index k = last;
    for (; k > least; --k) {
      const R below = size_of(h(k, k - 1));
      if (below <= nothing) break;
      R beside = size_of(h(k - 1, k - 1)) + size_of(h(k, k));
      if (beside == R{0}) {
        if (k - 2 >= low_) beside += size_of(h(k - 1, k - 2));
        if (k + 1 < high_) beside += size_of(h(k + 1, k));
      }
      if (below > unit * beside) continue;
      const R above = size_of(h(k - 1, k));
      const R difference = size_of(T(h(k - 1, k - 1) - h(k, k)));
      const R larger = std::max(below, above);
      const R largest = std::max(size_of(h(k, k)), difference);
      const R sum = largest + larger;
      const R product_of_both = std::min(below, above) * (larger / sum);
      if (product_of_both <= std::max(nothing, unit * (std::min(size_of(h(k, k)), difference) * (largest / sum))))
        break;
    }
    return k;
  }

  void sweep(Index first, Index last, Index number) {
    waiting_.clear();
    T start[order_of_reflectors<T>];
    const Index begin = begin_sweep(first, last, number, start);
    for (Index k = begin; k < last; ++k) {
      const int order = static_cast<int>(std::min<Index>(order_of_reflectors<T>, last - k + 1));
      T x[order_of_reflectors<T>];
      for (int i = 0; i < order; ++i) x[i] = k == begin ? start[i] : h(k + i, k - 1);
      R beta{0};
      const Reflection<T> reflection(k, order, x, beta);
      if (k > begin) {
        h(k, k - 1) = T(beta);
        for (int i = 1; i < order; ++i) h(k + i, k - 1) = T{0};
      } else if (k > first) {
        // Rows below have nothing in this column but what is negligible.
        h(k, k - 1) -= product(conjugate(reflection.tau), h(k, k - 1));
      }
      reflection.apply_left(k, last + 1, H_, leading_);
      reflection.apply_right(first, std::min(last, k + order_of_reflectors<T>) + 1, H_, leading_);
      waiting_.push_back(reflection);
    }
    apply_elsewhere(first, last);
  }
  // Rows above the block, columns behind it, and Z.
  void apply_elsewhere(Index first, Index last) {
    constexpr Index abreast = 64;  // Rows whose elements stay near while all reflections pass.
    const auto right = [&](Index rows, T* A, Index leading) {
      in_parts((rows + abreast - 1) / abreast, threads_for(rows), [&](Index begin, Index end) {
        for (Index part = begin; part < end; ++part) {
          for (const Reflection<T>& one : waiting_) {
            one.apply_right(part * abreast, std::min(rows, (part + 1) * abreast), A, leading);
          }
        }
      });
    };
    if (Z_ != nullptr) right(n_, Z_, leading_z_);
    if (!whole_) return;
    right(first, H_, leading_);
    left_behind(waiting_.front().first, last);
  }
  // Columns behind the block, some of them side by side: each has a chain of operations.
  void left_behind(Index first, Index last) {
    constexpr Index abreast = 8;
    const Index behind = n_ - last - 1;
    const Index rows = last - first + 1;
    in_parts((behind + abreast - 1) / abreast, threads_for(behind), [&](Index begin, Index end) {
      std::vector<T> part(static_cast<std::size_t>(rows * abreast));
      for (Index group = begin; group < end; ++group) {
        const Index column = last + 1 + group * abreast;
        const Index columns = std::min(abreast, n_ - column);
        for (Index c = 0; c < columns; ++c) {
          const T* const from = &h(first, column + c);
          for (Index i = 0; i < rows; ++i) part[static_cast<std::size_t>(i * abreast + c)] = from[i];
        }
        for (const Reflection<T>& one : waiting_) {
          one.template apply_abreast<abreast>(part.data() + (one.first - first) * abreast);
        }
        for (Index c = 0; c < columns; ++c) {
          T* const to = &h(first, column + c);
          for (Index i = 0; i < rows; ++i) to[i] = part[static_cast<std::size_t>(i * abreast + c)];
        }
      }
    });
  }
  // A thread pays from this much work on.
  [[nodiscard]] int threads_for(Index extent) const {
    constexpr Index worth = 20000;
    return static_cast<int>(std::min<Index>(usual_threads(), extent * static_cast<Index>(waiting_.size()) / worth + 1));
  }

  // Return the row where a sweep begins, and set the vector of its first reflection.
  Index begin_sweep(Index first, Index last, Index number, T* start) {
    const bool exceptional = number % 10 == 9;
    if constexpr (is_complex<T>) {
      const T shift = exceptional ? T(R{0.75} * size_of(h(last, last - 1))) + h(last, last) : wilkinson_shift(last);
      start[0] = h(first, first) - shift;
      start[1] = h(first + 1, first);
      return first;
    } else {
      R a = h(last - 1, last - 1);
      R b = h(last - 1, last);
      R c = h(last, last - 1);
      R d = h(last, last);
      if (exceptional) {
        const bool above = number % 20 == 9;
        const R s = above ? std::abs(h(first + 1, first)) + std::abs(h(first + 2, first + 1))
                          : std::abs(h(last, last - 1)) + std::abs(h(last - 1, last - 2));
        a = R{0.75} * s + (above ? h(first, first) : d);
        b = R{-0.4375} * s;
        c = s;
        d = a;
      }
      const Shifts<R> shifts(a, b, c, d);
      for (Index m = last - 2;; --m) {
        // (H - s_1)(H - s_2) e_m over its largest part.
        const R below = h(m + 1, m);
        const R one = h(m, m) - shifts.re[0];
        const R other = h(m, m) - shifts.re[1];
        R s = std::abs(other) + std::abs(shifts.im[1]) + std::abs(below);
        if (!(s > R{0})) s = R{1};
        const R scaled_below = below / s;
        start[0] = scaled_below * h(m, m + 1) + one * (other / s) - shifts.im[0] * (shifts.im[1] / s);
        start[1] = scaled_below * (h(m, m) + h(m + 1, m + 1) - shifts.re[0] - shifts.re[1]);
        start[2] = scaled_below * h(m + 2, m + 1);
        const R sum = std::abs(start[0]) + std::abs(start[1]) + std::abs(start[2]);
        if (sum > R{0}) {
          for (int i = 0; i < 3; ++i) start[i] /= sum;
        }
        if (m == first) return m;
        // Two consecutive small elements of the subdiagonal.
        const R before = std::abs(h(m, m - 1)) * (std::abs(start[1]) + std::abs(start[2]));
        const R beside =
            std::abs(start[0]) * (std::abs(h(m - 1, m - 1)) + std::abs(h(m, m)) + std::abs(h(m + 1, m + 1)));
        if (before <= 2 * unit_roundoff<R> * beside) return m;
      }
    }
  }
  // The eigenvalue of the last block of two that is nearer to its last element.
  T wilkinson_shift(Index last) {
    const T corner = h(last, last);
    const T b = h(last - 1, last);
    const T c = h(last, last - 1);
    const T difference = h(last - 1, last - 1) - corner;
    const R largest = std::max({size_of(b), size_of(c), size_of(difference)});
    if (!(largest > R{0})) return corner;
    const int exponent = std::ilogb(largest);
    const T u = product(scaled(b, -exponent), scaled(c, -exponent));
    const T half = scaled(difference, -exponent - 1);
    T root = square_root(T(product(half, half) + u));
    if (half.real() * root.real() + half.imag() * root.imag() < R{0}) root = -root;
    const T sum = half + root;
    return sum == T{0} ? corner : T(corner - scaled(divided(u, sum), exponent));
  }

  // The block of two at `first` becomes a standard one, or two of one.
  void split(Index first) {
    const StandardBlock<R> block(h(first, first), h(first, first + 1), h(first + 1, first), h(first + 1, first + 1));
    h(first, first) = block.a;
    h(first, first + 1) = block.b;
    h(first + 1, first) = block.c;
    h(first + 1, first + 1) = block.d;
    w_[first] = Kokkos::complex<R>(block.a, block.imaginary);
    w_[first + 1] = Kokkos::complex<R>(block.d, -block.imaginary);
    const auto columns = [&](Index rows, T* x, T* y) {
      for (Index r = 0; r < rows; ++r) {
        const T one = x[r];
        x[r] = block.cosine * one + block.sine * y[r];
        y[r] = block.cosine * y[r] - block.sine * one;
      }
    };
    if (whole_) {
      for (Index j = first + 2; j < n_; ++j) {
        const T one = h(first, j);
        h(first, j) = block.cosine * one + block.sine * h(first + 1, j);
        h(first + 1, j) = block.cosine * h(first + 1, j) - block.sine * one;
      }
      columns(first, &h(0, first), &h(0, first + 1));
    }
    if (Z_ != nullptr) columns(n_, Z_ + first * leading_z_, Z_ + (first + 1) * leading_z_);
  }

  bool whole_;
  Index n_;
  Index low_;
  Index high_;
  T* H_;
  Index leading_;
  Kokkos::complex<R>* w_;
  T* Z_;
  Index leading_z_;
  std::vector<Reflection<T>> waiting_;
};

}  // namespace

template <Scalar T>
Index schur(bool whole, Index n, Index low, Index high, T* H, Index leading, Kokkos::complex<Real<T>>* w, T* Z,
            Index leading_z) {
  const Arithmetic arithmetic;
  return Iteration<T>(whole, n, low, high, H, leading, w, Z, leading_z).run();
}

#define HEDDLE_INSTANTIATE(T) \
  template Index schur<T>(bool, Index, Index, Index, T*, Index, Kokkos::complex<Real<T>>*, T*, Index)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
