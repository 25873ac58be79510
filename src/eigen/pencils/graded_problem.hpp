// A positive definite matrix with an exponent for each of its rows and columns, on the host: rotations of its Cholesky
// factor's columns, or of itself from both sides, whose arithmetic no spread of the diagonal takes out of range.
#pragma once

#include "eigen/dense/convergence.hpp"
#include "eigen/dense/matrices.hpp"
#include "eigen/dense/rotation.hpp"
#include "eigen/dense/round_robin.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::eigen::impl {

/// x 2^exponent, rounded only where that is denormal.
template <Scalar T> T times_power_of_two(const T& x, int exponent) {
  if constexpr (is_complex<T>) {
    return T(std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent));
  } else {
    return std::ldexp(x, exponent);
  }
}
template <Scalar T> Real<T> squared(const T& x) {
  if constexpr (is_complex<T>) {
    return x.real() * x.real() + x.imag() * x.imag();
  } else {
    return x * x;
  }
}

/// The rotation that makes columns 2^e x and 2^(e + k) y orthogonal, the first of which is the longer: x becomes x +
/// (less x + up y) and y becomes y + (less y - down x). For a large ratio 2^-k the angle vanishes, but `down` does not.
template <Scalar T> struct ScaledRotation {
  using R = Real<T>;
  T up;
  T down;
  R less;     ///< The cosine less 1.
  R tangent;  ///< Tangent of the angle.
  R moved;    ///< down |x^H y|: loss of y's squared length; x's gains it times 2^2k.
  T phase;    ///< Phase of x^H y.
};
// a = |x|^2, b = x^H y, size = |b| > 0, d = |y|^2; a >= d 2^2k.
template <Scalar T> ScaledRotation<T> scaled_rotation(Real<T> a, const T& b, Real<T> size, Real<T> d, int k) {
  using R = Real<T>;
  const R difference = a - std::ldexp(d, 2 * k);
  // tan(theta) 2^-k, with tan(2 theta) = 2 |b| 2^k / difference.
  const R slope = 2 * size / (difference + std::hypot(difference, std::ldexp(2 * size, k)));
  const R tangent = std::ldexp(slope, k);
  const R root = std::sqrt(1 + tangent * tangent);
  T phase;
  if constexpr (is_complex<T>) {
    phase = T(b.real() / size, b.imag() / size);
  } else {
    phase = std::copysign(R(1), b);
  }
  return {conjugate(phase) * (std::ldexp(tangent, k) / root),
          phase * (slope / root),
          -tangent * tangent / (root * (1 + root)),
          tangent,
          slope * size,
          phase};
}

// The caller's space where it is the host's.
template <class Space> Kokkos::DefaultHostExecutionSpace host_space(const Space& space) {
  if constexpr (std::is_same_v<Space, Kokkos::DefaultHostExecutionSpace>) {
    return space;
  } else {
    return {};
  }
}

// A = D S D by rows and columns in descending order of the diagonal; D = diag(2^exponent), 1 <= s_ii < 4.
template <Scalar T> class GradedProblem {
 public:
  using R = Real<T>;
  using Host = Kokkos::DefaultHostExecutionSpace;

  GradedProblem(const ExecutionSpace& space, const HostMatrix<T>& A)
      : host_(host_space(space)),
        n_(static_cast<Index>(A.extent(0))),
        S_("heddle::eigen::graded", A.extent(0), A.extent(1)) {
    std::vector<R> diagonal;
    diagonal.reserve(A.extent(0));
    for (Index i = 0; i < n_; ++i) {
      diagonal.push_back(-real_part(A(i, i)));
    }
    order_ = ascending(diagonal);
    for (const Index i : order_) {
      const int exponent = std::ilogb(diagonal[static_cast<std::size_t>(i)]);
      exponents_.push_back((exponent - (exponent % 2 != 0 ? 1 : 0)) / 2);
    }
    for (Index j = 0; j < n_; ++j) {
      for (Index i = 0; i < n_; ++i) {
        S_(i, j) = times_power_of_two(A(at(order_, i), at(order_, j)), -exponent(i) - exponent(j));
      }
    }
  }

  // S = L L^H, columns of D L with the exponent of their diagonal element; false where A is not positive definite.
  bool factor() {
    for (Index j = 0; j < n_; ++j) {
      const R pivot = real_part(S_(j, j));
      if (!(pivot > 0) || !std::isfinite(pivot)) {
        return false;
      }
      const R root = std::sqrt(pivot);
      for (Index i = j; i < n_; ++i) {
        S_(i, j) = i == j ? T(root) : S_(i, j) / root;
      }
      for_all("heddle::eigen::graded_factor", n_ - j - 1, [&](Index at) {
        const Index k = j + 1 + at;
        const T by = -conjugate(S_(k, j));
        for (Index i = k; i < n_; ++i) {
          S_(i, k) += S_(i, j) * by;
        }
      });
    }
    for (Index j = 0; j < n_; ++j) {
      for (Index i = 0; i < n_; ++i) {
        S_(i, j) = i < j ? T(0) : times_power_of_two(S_(i, j), exponent(i) - exponent(j));
      }
    }
    return true;
  }

  // Makes the columns orthogonal.
  void orthogonalise(R tolerance, const JacobiOptions& options, JacobiReport& report) {
    const int pairs = static_cast<int>((n_ + 1) / 2);
    std::vector<SweepCounts<R>> counts(static_cast<std::size_t>(pairs));
    const auto sweep = [&] {
      for (Index j = 0; j < n_; ++j) {
        shorten(j);
      }
      std::fill(counts.begin(), counts.end(), SweepCounts<R>{});
      for (int step = 0; step < 2 * pairs - 1; ++step) {
        for_all("heddle::eigen::graded_columns", pairs, [&](Index k) {
          const Index p = occupant(static_cast<int>(k), pairs, step);
          const Index q = occupant(static_cast<int>(pairs + k), pairs, step);
          if (p < n_ && q < n_) {
            rotate_columns(p, q, tolerance, counts[static_cast<std::size_t>(k)]);
          }
        });
      }
      SweepCounts<R> all;
      for (const SweepCounts<R>& some : counts) {
        all += some;
      }
      report.off_norms.push_back(static_cast<double>(all.largest));
      return all;
    };
    iterate<R>(sweep, tolerance, n_, options, report);
  }

  // Makes S diagonal by rotations from both sides, row by row or of disjoint pairs; V, where it has elements, becomes
  // their product.
  void diagonalise(const Criterion<R>& criterion, bool row_by_row, const HostMatrix<T>& V, const JacobiOptions& options,
                   JacobiReport& report) {
    for (std::size_t j = 0; j < V.extent(1); ++j) {
      V(j, j) = T(1);
    }
    report.off_norms.push_back(off_norm());
    const int pairs = static_cast<int>((n_ + 1) / 2);
    const auto sweep = [&] {
      SweepCounts<R> counts;
      const auto turn = [&](Index p, Index q) {
        if (p < n_ && q < n_ && (options.rotations == 0 || report.rotations + counts.rotations < options.rotations)) {
          rotate_both(p, q, criterion.least, V, counts);
        }
      };
      if (row_by_row) {
        for (Index p = 0; p < n_; ++p) {
          for (Index q = p + 1; q < n_; ++q) {
            turn(p, q);
          }
        }
      } else {
        for (int step = 0; step < 2 * pairs - 1; ++step) {
          for (int k = 0; k < pairs; ++k) {
            turn(occupant(k, pairs, step), occupant(pairs + k, pairs, step));
          }
        }
      }
      report.off_norms.push_back(off_norm());
      return counts;
    };
    iterate<R>(sweep, criterion.tolerance, n_, options, report);
  }

  [[nodiscard]] bool is_positive() const {
    for (Index i = 0; i < n_; ++i) {
      if (!(real_part(S_(i, i)) > 0)) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] std::vector<double> diagonal() const {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(n_));
    for (Index i = 0; i < n_; ++i) {
      values.push_back(std::ldexp(real_part(S_(i, i)), 2 * exponent(i)));
    }
    return values;
  }
  // Squared lengths of the columns, and the factors that make them 1.
  [[nodiscard]] std::vector<double> squares(std::vector<double>& factors) const {
    std::vector<double> values;
    for (Index j = 0; j < n_; ++j) {
      const R square = square_of_column(j);
      values.push_back(std::ldexp(square, 2 * exponent(j)));
      factors.push_back(1 / std::sqrt(static_cast<double>(square)));
    }
    return values;
  }
  [[nodiscard]] const HostMatrix<T>& matrix() const { return S_; }
  // Row r of S is row order()[r] of A.
  [[nodiscard]] const std::vector<Index>& order() const { return order_; }

 private:
  template <class Value> static Value at(const std::vector<Value>& values, Index i) {
    return values[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] int exponent(Index i) const { return at(exponents_, i); }

  // body(k) for 0 <= k < count: by all threads where that is worth their start.
  template <class Body> void for_all(const char* label, Index count, const Body& body) const {
    if (n_ <= 128) {
      for (Index k = 0; k < count; ++k) {
        body(k);
      }
      return;
    }
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Host, Kokkos::IndexType<Index>>(host_, 0, count), body);
    host_.fence(label);
  }

  [[nodiscard]] R square_of_column(Index j) const {
    R sum = 0;
    for (Index i = 0; i < n_; ++i) {
      sum += squared(S_(i, j));
    }
    return sum;
  }
  // A length of less than 1, the rest to the exponent.
  void shorten(Index j) {
    const int by = std::ilogb(std::sqrt(square_of_column(j))) + 1;
    exponents_[static_cast<std::size_t>(j)] += by;
    for (Index i = 0; by != 0 && i < n_; ++i) {
      S_(i, j) = times_power_of_two(S_(i, j), -by);
    }
  }

  // Exchange columns p and q, of squares or elements a and d 2^(2 k), if q is the larger one; return their rotation.
  // NOLINTNEXTLINE(readability-function-size): two columns, their inner product and exponents
  [[nodiscard]] ScaledRotation<T> ordered_rotation(Index& p, Index& q, R& a, R& d, T b, R size, int& k) const {
    k = exponent(q) - exponent(p);
    if (std::ldexp(d, 2 * k) > a) {
      std::swap(p, q);
      std::swap(a, d);
      b = conjugate(b);
      k = -k;
    }
    return scaled_rotation<T>(a, b, size, d, k);
  }
  void rotate_columns(Index p, Index q, R tolerance, SweepCounts<R>& counts) const {
    R a = 0;
    R d = 0;
    T b = T(0);
    for (Index i = 0; i < n_; ++i) {
      a += squared(S_(i, p));
      d += squared(S_(i, q));
      b += conjugate(S_(i, p)) * S_(i, q);
    }
    const R size = magnitude(b);
    const R share = size / (std::sqrt(a) * std::sqrt(d));
    counts.largest = std::max(counts.largest, share);
    if (!(share > tolerance)) {
      return;
    }
    int k = 0;
    const ScaledRotation<T> turn = ordered_rotation(p, q, a, d, b, size, k);
    for (Index i = 0; i < n_; ++i) {
      turn_elements(turn, S_(i, p), S_(i, q));
    }
    count(turn, counts);
  }
  static void turn_elements(const ScaledRotation<T>& turn, T& x, T& y) {
    const T before = x;
    x += before * turn.less + turn.up * y;
    y += y * turn.less - turn.down * before;
  }
  static void count(const ScaledRotation<T>& turn, SweepCounts<R>& counts) {
    counts.sine = std::max(counts.sine, turn.tangent / std::sqrt(1 + turn.tangent * turn.tangent));
    ++counts.rotations;
  }

  void rotate_both(Index p, Index q, R least, const HostMatrix<T>& V, SweepCounts<R>& counts) const {
    R a = real_part(S_(p, p));
    R d = real_part(S_(q, q));
    T b = S_(p, q);
    const R size = magnitude(b);
    const R share = size == 0 ? R(0) : size / (std::sqrt(std::abs(a)) * std::sqrt(std::abs(d)));
    counts.largest = std::max(counts.largest, share);
    if (!(share > least)) {
      return;
    }
    int k = 0;
    const ScaledRotation<T> turn = ordered_rotation(p, q, a, d, b, size, k);
    for (Index i = 0; i < n_; ++i) {
      turn_elements(turn, S_(i, p), S_(i, q));
      S_(p, i) = conjugate(S_(i, p));
      S_(q, i) = conjugate(S_(i, q));
    }
    S_(p, p) = T(a + std::ldexp(turn.moved, 2 * k));
    S_(q, q) = T(d - turn.moved);
    S_(p, q) = S_(q, p) = T(0);
    const R cosine_less = turn.less;
    const R sine = turn.tangent / std::sqrt(1 + turn.tangent * turn.tangent);
    const ScaledRotation<T> plain{conjugate(turn.phase) * sine, turn.phase * sine, cosine_less, turn.tangent, 0, T(0)};
    for (std::size_t i = 0; i < V.extent(0); ++i) {
      turn_elements(plain, V(i, p), V(i, q));
    }
    count(turn, counts);
  }

  [[nodiscard]] double off_norm() const {
    const int most = *std::max_element(exponents_.begin(), exponents_.end());
    double off = 0;
    double all = 0;
    for (Index j = 0; j < n_; ++j) {
      for (Index i = 0; i < n_; ++i) {
        const auto square =
            static_cast<double>(squared(times_power_of_two(S_(i, j), exponent(i) + exponent(j) - 2 * most)));
        off += i == j ? 0 : square;
        all += square;
      }
    }
    return off == 0 ? 0 : std::sqrt(off / all);
  }

  Host host_;
  Index n_;
  HostMatrix<T> S_;
  std::vector<Index> order_;
  std::vector<int> exponents_;
};

}  // namespace heddle::eigen::impl
