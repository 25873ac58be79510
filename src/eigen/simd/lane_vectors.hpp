// Eigenvectors of small symmetric matrices, one in each lane of a vector, by tridiagonalisation: where rotations begin.
#pragma once

#include "eigen/dense/convergence.hpp"
#include "eigen/simd/lanes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace heddle::eigen::impl {

template <class R> using Vector = typename Lanes<R>::Vector;
template <class R> using Numbers = std::array<R, static_cast<std::size_t>(Lanes<R>::count)>;

template <class R> Vector<R> all(R value) {
  return Vector<R>{} + value;
}
template <class R> Vector<R> root(const Vector<R>& x) {
  alignas(64) Numbers<R> numbers;
  store(numbers.data(), x);
  for (R& number : numbers) {
    number = std::sqrt(number);
  }
  return load(numbers.data());
}
template <class R> Vector<R> size_of(const Vector<R>& x) {
  return x < 0 ? -x : x;
}

/// Offset of column j in n x n vectors. Columns are padded by one vector, as columns a power of two apart would wait
/// for one another's stores.
inline std::ptrdiff_t lane_column(int n, int j) {
  return static_cast<std::ptrdiff_t>(j) * (n + 1);
}

template <RealScalar R> class LaneVectors {
 public:
  explicit LaneVectors(int n) : n_(n) {}

  // Q = eigenvectors: reflections to a tridiagonal matrix, then its QL iteration with implicit shifts (A. Dubrulle, R.
  // S. Martin, J. H. Wilkinson, 1968), all lanes at the same row. Orthonormal to some u; what is left off the diagonal,
  // and the unfinished where a lane takes too long, is for the rotations. So are elements whose squares would lose
  // digits to underflow: a reflection or rotation made of these would not be orthogonal.
  void find(const Vector<R>* given, Vector<R>* S, Vector<R>* Q) const {
    std::copy_n(given, lane_column(n_, n_), S);
    PerRow d;
    PerRow e{};
    PerRow factors{};
    tridiagonalise(S, d, e, factors);
    multiply_reflections(S, factors, Q);
    Angles angles;
    for (int l = 0; l + 1 < n_; ++l) {
      for (int iteration = 0; iteration < 30; ++iteration) {
        Vector<R> end;
        const int top = end_of_block(l, d, e, end);
        if (top == l) {
          break;
        }
        turn(l, top, end, d, e, angles);
        int row = 0;
        for (; row + 4 <= n_; row += 4) {
          turn_rows<4>(Q, row, l, top, angles);
        }
        for (; row < n_; ++row) {
          turn_rows<1>(Q, row, l, top, angles);
        }
      }
    }
  }

 private:
  static constexpr int lanes = Lanes<R>::count;
  // Sums of squares above it have all their digits, whatever underflowed of them.
  static constexpr R smallest_square = std::numeric_limits<R>::min() / unit_roundoff<R>;
  // A number of each row, in all lanes.
  using PerRow = std::array<Vector<R>, static_cast<std::size_t>(largest_small) + 1>;
  struct Angles {
    PerRow sines;
    PerRow cosines;
  };
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // S becomes tridiagonal, with the diagonal d and e beside it, by reflections whose vectors take its place.
  void tridiagonalise(Vector<R>* S, PerRow& d, PerRow& e, PerRow& factors) const {
    PerRow w;
    for (int k = 0; k + 2 < n_; ++k) {
      // v = x - alpha e_1, H = I - beta v v^T.
      Vector<R>* const v = column(S, k);
      Vector<R> square{};
      for (int i = k + 1; i < n_; ++i) {
        square += v[i] * v[i];
      }
      const Vector<R> length = root<R>(square);
      const Vector<R> head = v[k + 1];
      const auto reflects = square > smallest_square;
      const Vector<R> alpha = reflects ? (head > 0 ? -length : length) : head;
      const Vector<R> half_square = square + size_of<R>(head) * length;
      const Vector<R> beta = reflects ? 1 / (reflects ? half_square : all<R>(1)) : Vector<R>{};
      v[k + 1] = head - alpha;
      e[at(k)] = alpha;
      factors[at(k)] = beta;
      for (int i = k + 1; i < n_; ++i) {
        w[at(i)] = Vector<R>{};
      }
      for (int j = k + 1; j < n_; ++j) {
        const Vector<R>* const a = column(S, j);
        const Vector<R> by = v[j];
        Vector<R> inner = a[j] * by;
        for (int i = j + 1; i < n_; ++i) {
          w[at(i)] += a[i] * by;
          inner += a[i] * v[i];
        }
        w[at(j)] += inner;
      }
      Vector<R> along{};
      for (int i = k + 1; i < n_; ++i) {
        w[at(i)] *= beta;
        along += w[at(i)] * v[i];
      }
      along *= R(0.5) * beta;
      for (int i = k + 1; i < n_; ++i) {
        w[at(i)] -= along * v[i];
      }
      for (int j = k + 1; j < n_; ++j) {
        Vector<R>* const a = column(S, j);
        const Vector<R> v_j = v[j];
        const Vector<R> w_j = w[at(j)];
        for (int i = j; i < n_; ++i) {
          a[i] -= v[i] * w_j + w[at(i)] * v_j;
        }
      }
    }
    for (int i = 0; i < n_; ++i) {
      d[at(i)] = column(S, i)[i];
    }
    e[at(n_ - 2)] = column(S, n_ - 2)[n_ - 1];
  }
  // Q = the product of the reflections.
  void multiply_reflections(Vector<R>* S, const PerRow& factors, Vector<R>* Q) const {
    for (int j = 0; j < n_; ++j) {
      for (int i = 0; i < n_; ++i) {
        column(Q, j)[i] = i == j ? all<R>(1) : Vector<R>{};
      }
    }
    for (int k = n_ - 3; k >= 0; --k) {
      const Vector<R>* const v = column(S, k);
      for (int j = k + 1; j < n_; ++j) {
        Vector<R>* const q = column(Q, j);
        Vector<R> inner{};
        for (int i = k + 1; i < n_; ++i) {
          inner += v[i] * q[i];
        }
        inner *= factors[at(k)];
        for (int i = k + 1; i < n_; ++i) {
          q[i] -= inner * v[i];
        }
      }
    }
  }
  // Find the end of the block that begins at row l in each lane, and return the last of these.
  int end_of_block(int l, const PerRow& d, const PerRow& e, Vector<R>& end) const {
    end = all<R>(static_cast<R>(n_ - 1));
    for (int m = n_ - 2; m >= l; --m) {
      const Vector<R> limit = unit_roundoff<R> * (size_of<R>(d[at(m)]) + size_of<R>(d[at(m + 1)]));
      end = size_of<R>(e[at(m)]) <= limit ? all<R>(static_cast<R>(m)) : end;
    }
    int top = l;
    for (int lane = 0; lane < lanes; ++lane) {
      top = std::max(top, static_cast<int>(end[lane]));
    }
    return top;
  }
  // One iteration on the blocks of rows l ... top, and its rotations.
  void turn(int l, int top, const Vector<R>& end, PerRow& d, PerRow& e, Angles& angles) const {
    const auto active = end > static_cast<R>(l);
    Vector<R> last{};
    for (int m = l; m <= top; ++m) {
      last = end == static_cast<R>(m) ? d[at(m)] : last;
    }
    const Vector<R> below = active ? 2 * e[at(l)] : all<R>(1);
    const Vector<R> ratio = (d[at(l + 1)] - d[at(l)]) / below;
    const Vector<R> length = root<R>(ratio * ratio + 1);
    Vector<R> g = last - d[at(l)] + e[at(l)] / (ratio + (ratio < 0 ? -length : length));
    Vector<R> s = all<R>(1);
    Vector<R> c = all<R>(1);
    Vector<R> p{};
    for (int i = top - 1; i >= l; --i) {
      const auto inside = (end > static_cast<R>(i)) & active;
      const Vector<R> f = s * e[at(i)];
      const Vector<R> b = c * e[at(i)];
      const Vector<R> square = f * f + g * g;
      const auto turns = square > smallest_square;
      const Vector<R> r = turns ? root<R>(square) : Vector<R>{};
      const Vector<R> inverse = 1 / (turns ? r : all<R>(1));
      e[at(i + 1)] = inside ? r : e[at(i + 1)];
      s = inside ? (turns ? f * inverse : Vector<R>{}) : s;
      c = inside ? (turns ? g * inverse : all<R>(1)) : c;
      const Vector<R> next = d[at(i + 1)] - p;
      const Vector<R> t = (d[at(i)] - next) * s + 2 * c * b;
      p = inside ? s * t : p;
      d[at(i + 1)] = inside ? next + p : d[at(i + 1)];
      g = inside ? c * t - b : g;
      angles.sines[at(i)] = inside ? s : Vector<R>{};
      angles.cosines[at(i)] = inside ? c : all<R>(1);
    }
    d[at(l)] -= active ? p : Vector<R>{};
    e[at(l)] = active ? g : e[at(l)];
    for (int m = l + 1; m <= top; ++m) {
      e[at(m)] = active & (end == static_cast<R>(m)) ? Vector<R>{} : e[at(m)];
    }
  }
  // Columns top ... l of some rows of Q by the rotations of one iteration: what goes from column to column stays in
  // registers.
  template <int rows> void turn_rows(Vector<R>* Q, int row, int l, int top, const Angles& angles) const {
    Vector<R> carried[rows];
    for (int k = 0; k < rows; ++k) {
      carried[k] = column(Q, top)[row + k];
    }
    for (int i = top - 1; i >= l; --i) {
      const Vector<R> sine = angles.sines[at(i)];
      const Vector<R> cosine = angles.cosines[at(i)];
      const Vector<R>* const here = column(Q, i) + row;
      Vector<R>* const above = column(Q, i + 1) + row;
      for (int k = 0; k < rows; ++k) {
        const Vector<R> z = here[k];
        above[k] = sine * z + cosine * carried[k];
        carried[k] = cosine * z - sine * carried[k];
      }
    }
    for (int k = 0; k < rows; ++k) {
      column(Q, l)[row + k] = carried[k];
    }
  }
  Vector<R>* column(Vector<R>* matrix, int j) const { return matrix + lane_column(n_, j); }

  int n_;
};

}  // namespace heddle::eigen::impl
