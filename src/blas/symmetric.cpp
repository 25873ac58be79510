// Symmetric eigenproblems by reflectors, bisection and inverse iteration, and banded Cholesky factors.
#include "blas/symmetric.hpp"

#include <heddle/core/error.hpp>
#include <heddle/core/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace heddle::impl::symmetric {

namespace {

constexpr double unit = std::numeric_limits<double>::epsilon();

void add(double factor, std::span<const double> x, std::span<double> y) {
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += factor * x[i];
}

// The power of two that makes the largest of these numbers at least 1 and less than 2, so that squares neither overflow
// nor vanish; 0 if all are zero.
int scale_of(std::span<const double> x, std::span<const double> y = {}) {
  double largest = 0.0;
  bool finite = true;
  for (const std::span<const double> part : {x, y}) {
    for (const double value : part) {
      largest = std::max(largest, std::abs(value));
      finite = finite && std::isfinite(value);
    }
  }
  if (!finite) throw Error(ErrorKind::computation, "eigenvalues of a symmetric matrix that is not finite");
  return largest > 0.0 ? -std::ilogb(largest) : 0;
}

// A tridiagonal matrix whose largest element is near 1.
struct Tridiagonal {
  Tridiagonal(std::span<const double> diagonal, std::span<const double> off_diagonal)
      : scale(scale_of(diagonal, off_diagonal)),
        d(diagonal.begin(), diagonal.end()),
        e(off_diagonal.begin(), off_diagonal.end()) {
    for (double& value : d) value = std::scalbn(value, scale);
    for (double& value : e) value = std::scalbn(value, scale);
    e.resize(d.size());
    if (!e.empty()) e.back() = 0.0;
  }

  // Lower and upper bound of all eigenvalues (Gershgorin).
  void bound(double& low, double& high) const {
    low = std::numeric_limits<double>::infinity();
    high = -low;
    for (std::size_t i = 0; i < d.size(); ++i) {
      const double radius = std::abs(e[i]) + (i > 0 ? std::abs(e[i - 1]) : 0.0);
      low = std::min(low, d[i] - radius);
      high = std::max(high, d[i] + radius);
    }
    // Rounding of the sequences moves eigenvalues by some units.
    const double moved = 8 * unit * std::max(std::abs(low), std::abs(high));
    low -= moved;
    high += moved;
  }

  int scale;
  std::vector<double> d;
  std::vector<double> e;  // as long as d, its last element zero
};

constexpr std::size_t lanes = 8;

// below[l] = the number of eigenvalues below x[l], for several numbers at once since divisions take long.
void count_below(const Tridiagonal& T, std::span<const double> squares, const double (&x)[lanes],
                 double (&below)[lanes]) {
  constexpr double tiny = std::numeric_limits<double>::min();
  double q[lanes];
  double count[lanes];
  for (std::size_t l = 0; l < lanes; ++l) {
    q[l] = 1.0;
    count[l] = 0.0;
  }
  for (std::size_t i = 0; i < T.d.size(); ++i) {
    const double square = i > 0 ? squares[i - 1] : 0.0;
    const double d = T.d[i];
    for (std::size_t l = 0; l < lanes; ++l) {
      const double next = (d - x[l]) - square / q[l];
      q[l] = std::abs(next) < tiny ? -tiny : next;
      count[l] += q[l] < 0.0 ? 1.0 : 0.0;
    }
  }
  for (std::size_t l = 0; l < lanes; ++l) below[l] = count[l];
}

std::vector<double> lowest_values(const Tridiagonal& T, std::size_t count) {
  std::vector<double> squares(T.e);
  for (double& value : squares) value *= value;
  double lowest = 0.0;
  double highest = 0.0;
  T.bound(lowest, highest);
  std::vector<double> values(count);
  for (std::size_t first = 0; first < count; first += lanes) {
    double low[lanes];
    double high[lanes];
    std::fill_n(low, lanes, lowest);
    std::fill_n(high, lanes, highest);
    for (bool found = false; !found;) {
      double middle[lanes];
      double below[lanes];
      for (std::size_t l = 0; l < lanes; ++l) middle[l] = 0.5 * (low[l] + high[l]);
      count_below(T, squares, middle, below);
      found = true;
      for (std::size_t l = 0; l < lanes; ++l) {
        const double wanted = static_cast<double>(std::min(first + l, count - 1));
        (below[l] > wanted ? high[l] : low[l]) = middle[l];
        const double size = std::max(std::abs(low[l]), std::abs(high[l]));
        found = found && high[l] - low[l] <= std::max(unit * size, 0x1p-10 * unit);
      }
    }
    for (std::size_t l = 0; l < lanes && first + l < count; ++l) values[first + l] = 0.5 * (low[l] + high[l]);
  }
  return values;
}

// P L U of T - x, with row exchanges between neighbours.
class ShiftedFactors {
 public:
  explicit ShiftedFactors(const Tridiagonal& T)
      : T_(T), inverse_(T.d.size()), beside_(T.d.size()), second_(T.d.size()), factor_(T.d.size()), swap_(T.d.size()) {}

  void factor(double x) {
    const std::size_t n = T_.d.size();
    double diagonal = T_.d[0] - x;
    double beside = T_.e[0];
    for (std::size_t i = 0; i + 1 < n; ++i) {
      const double below = T_.e[i];
      const double next = T_.d[i + 1] - x;
      const double after = T_.e[i + 1];
      swap_[i] = std::abs(diagonal) < std::abs(below);
      if (swap_[i]) {
        inverse_[i] = 1.0 / below;
        factor_[i] = diagonal * inverse_[i];
        beside_[i] = next;
        second_[i] = after;
        diagonal = beside - factor_[i] * next;
        beside = -factor_[i] * after;
      } else {
        inverse_[i] = 1.0 / away_from_zero(diagonal);
        factor_[i] = below * inverse_[i];
        beside_[i] = beside;
        second_[i] = 0.0;
        diagonal = next - factor_[i] * beside;
        beside = after;
      }
    }
    inverse_[n - 1] = 1.0 / away_from_zero(diagonal);
  }

  void solve(std::span<double> y) const {
    const std::size_t n = y.size();
    for (std::size_t i = 0; i + 1 < n; ++i) {
      if (swap_[i]) std::swap(y[i], y[i + 1]);
      y[i + 1] -= factor_[i] * y[i];
    }
    for (std::size_t i = n; i-- > 0;) {
      double rest = y[i];
      if (i + 1 < n) rest -= beside_[i] * y[i + 1];
      if (i + 2 < n) rest -= second_[i] * y[i + 2];
      y[i] = rest * inverse_[i];
    }
  }

 private:
  // The matrix is singular to rounding, so any small pivot does. A small one has small elements beside it, unless rows
  // were exchanged: solutions do not overflow.
  static double away_from_zero(double pivot) { return std::abs(pivot) < unit ? std::copysign(unit, pivot) : pivot; }

  const Tridiagonal& T_;
  std::vector<double> inverse_;
  std::vector<double> beside_;
  std::vector<double> second_;
  std::vector<double> factor_;
  std::vector<char> swap_;
};

// x / ||x||, without overflow between.
void make_unit(std::span<double> x) {
  const int scale = scale_of(x);
  for (double& value : x) value = std::scalbn(value, scale);
  const double length = std::sqrt(dot(x, x));
  for (double& value : x) value /= length;
}

// Inverse iteration from numbers that depend on their places alone. The first solution has the vector's direction to
// the digits of the value, the second to those of the matrix; the third repairs what orthogonality has cost. A vector
// is made orthogonal to all lower ones, twice, since one pass leaves errors of cancellation.
void find_vectors(const Tridiagonal& T, std::span<const double> values, std::vector<double>& vectors) {
  constexpr int solutions = 3;
  const std::size_t n = T.d.size();
  vectors.resize(n * values.size());
  ShiftedFactors factors(T);
  const std::span<double> all(vectors);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto x = all.subspan(k * n, n);
    for (std::size_t i = 0; i < n; ++i) x[i] = unit_from(mixed_bits((k * n + i + 1) * golden_step));
    factors.factor(values[k]);
    for (int solution = 0; solution < solutions; ++solution) {
      factors.solve(x);
      make_unit(x);
      for (int pass = 0; pass < 2; ++pass) {
        for (std::size_t j = 0; j < k; ++j) add(-dot(all.subspan(j * n, n), x), all.subspan(j * n, n), x);
      }
      make_unit(x);
    }
  }
}

// A dense matrix made tridiagonal. Its columns keep the reflectors' vectors below the first subdiagonal, whose elements
// are 1.
struct Reduction {
  Reduction(std::size_t order, std::span<double> matrix)
      : n(order), A(matrix), diagonal(n), beside(n > 0 ? n - 1 : 0), tau(n) {
    std::vector<double> p(n);
    for (std::size_t k = 0; k < n; ++k) {
      diagonal[k] = A[k + k * n];
      if (k + 1 < n) reduce(k, std::span(p).first(n - k - 1));
    }
  }

  [[nodiscard]] std::span<double> below(std::size_t k) const { return A.subspan(k + 1 + k * n, n - k - 1); }

  void reduce(std::size_t k, std::span<double> p) {
    const std::span<double> v = below(k);
    const int scale = scale_of(v);
    beside[k] = v[0];
    tau[k] = 0.0;
    if (std::all_of(v.begin() + 1, v.end(), [](double value) { return value == 0.0; })) return;
    for (double& value : v) value = std::scalbn(value, scale);
    const double length = std::sqrt(dot(v, v));
    const double first = v[0];
    const double turned = first > 0.0 ? -length : length;
    beside[k] = std::scalbn(turned, -scale);
    tau[k] = 1.0 - first / turned;
    const double inverse = 1.0 / (first - turned);
    for (double& value : v) value *= inverse;
    v[0] = 1.0;
    update(k, v, p);
  }

  // A = H A H with H = 1 - tau v v^T: A - v w^T - w v^T, p = tau A v, w = p - tau (p . v) / 2 v.
  void update(std::size_t k, std::span<const double> v, std::span<double> p) const {
    const std::size_t size = v.size();
    std::fill(p.begin(), p.end(), 0.0);
    for (std::size_t j = 0; j < size; ++j) {
      const std::span<const double> column = A.subspan((k + 1 + j) * (n + 1), size - j);
      const double factor = v[j];
      p[j] += column[0] * factor + dot(column.subspan(1), v.subspan(j + 1));
      add(factor, column.subspan(1), p.subspan(j + 1));
    }
    for (double& value : p) value *= tau[k];
    add(-0.5 * tau[k] * dot(p, v), v, p);
    for (std::size_t j = 0; j < size; ++j) {
      const std::span<double> column = A.subspan((k + 1 + j) * (n + 1), size - j);
      const double of_w = p[j];
      const double of_v = v[j];
      for (std::size_t i = 0; i < column.size(); ++i) column[i] -= v[j + i] * of_w + p[j + i] * of_v;
    }
  }

  // Vectors of the matrix from those of the tridiagonal one.
  void turn_back(std::span<double> vectors) const {
    for (std::size_t k = n; k-- > 0;) {
      if (tau[k] == 0.0) continue;
      const std::span<const double> v = below(k);
      for (std::size_t begin = 0; begin < vectors.size(); begin += n) {
        const auto x = vectors.subspan(begin + k + 1, n - k - 1);
        add(-tau[k] * dot(v, x), v, x);
      }
    }
  }

  std::size_t n;
  std::span<double> A;
  std::vector<double> diagonal;
  std::vector<double> beside;
  std::vector<double> tau;
};

}  // namespace

double dot(std::span<const double> x, std::span<const double> y) {
  double sums[lanes] = {};
  const std::size_t n = x.size();
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) sums[k] += x[i + k] * y[i + k];
  }
  for (; i < n; ++i) sums[0] += x[i] * y[i];
  double sum = 0.0;
  for (const double value : sums) sum += value;
  return sum;
}

void tridiagonal_lowest(std::span<const double> diagonal, std::span<const double> beside, std::size_t count,
                        std::vector<double>& values, std::vector<double>& vectors) {
  const Tridiagonal T(diagonal, beside);
  values = lowest_values(T, count);
  find_vectors(T, values, vectors);
  for (double& value : values) value = std::scalbn(value, -T.scale);
}

void dense_lowest(std::size_t n, std::span<double> matrix, std::size_t count, std::vector<double>& values,
                  std::vector<double>& vectors) {
  for (std::size_t j = 0; j < n; ++j) std::fill_n(matrix.begin() + static_cast<std::ptrdiff_t>(j * n), j, 0.0);
  const int scale = scale_of(matrix);
  for (double& value : matrix) value = std::scalbn(value, scale);
  const Reduction reduction(n, matrix);
  tridiagonal_lowest(reduction.diagonal, reduction.beside, count, values, vectors);
  reduction.turn_back(vectors);
  for (double& value : values) value = std::scalbn(value, -scale);
}

BandedCholesky::BandedCholesky(std::size_t n, std::size_t width, std::vector<double> band)
    : n_(n), width_(width), band_(std::move(band)) {
  const std::size_t leading = width_ + 1;
  for (std::size_t j = 0; j < n_; ++j) {
    double* const column = band_.data() + j * leading;
    if (!(column[0] > 0.0)) return;
    const double inverse = 1.0 / std::sqrt(column[0]);
    column[0] = inverse;
    const std::size_t length = std::min(width_, n_ - 1 - j);
    for (std::size_t d = 1; d <= length; ++d) column[d] *= inverse;
    for (std::size_t c = 1; c <= length; ++c) {
      double* const later = band_.data() + (j + c) * leading;
      for (std::size_t d = c; d <= length; ++d) later[d - c] -= column[d] * column[c];
    }
  }
  factored_ = true;
}

void BandedCholesky::solve(std::span<double> X) const {
  for (std::size_t begin = 0; begin < X.size(); begin += n_) solve_column(X.subspan(begin, n_));
}

void BandedCholesky::solve_column(std::span<double> x) const {
  const std::size_t leading = width_ + 1;
  for (std::size_t j = 0; j < n_; ++j) {
    const double* const column = band_.data() + j * leading;
    x[j] *= column[0];
    for (std::size_t d = 1; d <= std::min(width_, n_ - 1 - j); ++d) x[j + d] -= column[d] * x[j];
  }
  for (std::size_t j = n_; j-- > 0;) {
    const double* const column = band_.data() + j * leading;
    double rest = x[j];
    for (std::size_t d = 1; d <= std::min(width_, n_ - 1 - j); ++d) rest -= column[d] * x[j + d];
    x[j] = rest * column[0];
  }
}

}  // namespace heddle::impl::symmetric
