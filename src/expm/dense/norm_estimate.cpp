// Estimates of 1-norms of powers by the block algorithm of N. Higham and F. Tisseur.
#include "expm/dense/norm_estimate.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "dist/copies.hpp"
#include "libm/functions.hpp"
#include <heddle/core/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace heddle::impl {
namespace {

template <Scalar T> T sign_of(const T& value) {
  const Real<T> size = libm::hypot(real_of<Real<T>>(value), imaginary_of<Real<T>>(value));
  return size > 0 ? T(value / size) : T(1);
}

// A sign that depends on its place alone.
double fixed_sign(Index i, int c) {
  const std::uint64_t place =
      static_cast<std::uint64_t>(i) * golden_step + static_cast<std::uint64_t>(c) * 0xD1B54A32D192ED03ULL;
  return (mixed_bits(place) & 1) == 0 ? 1.0 : -1.0;
}

// n x t numbers on the host, and the operator's two blocks.
template <Scalar T> class Blocks {
 public:
  Blocks(const ExecutionSpace& space, Index n, int columns)
      : space_(space),
        x_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::expm::estimate_x"),
           static_cast<std::size_t>(n), static_cast<std::size_t>(columns)),
        y_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::expm::estimate_y"),
           static_cast<std::size_t>(n), static_cast<std::size_t>(columns)),
        host_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::expm::estimate_host"),
              static_cast<std::size_t>(n), static_cast<std::size_t>(columns)) {}

  [[nodiscard]] T& operator()(Index i, int c) const { return host_(i, c); }
  // Replace the block by B times it.
  void apply(const ThinOperator<T>& B) const {
    Kokkos::deep_copy(space_, flat(x_), flat(host_));
    B(matrix_view<const T>(x_.data(), n(), columns(), n()), matrix_view(y_.data(), n(), columns(), n()));
    Kokkos::deep_copy(space_, flat(host_), flat(y_));
    space_.fence("heddle::expm::norm_estimate");
  }
  // NaN counts as infinity: it is a difference of infinities.
  [[nodiscard]] double column_norm(int c) const {
    double sum = 0.0;
    for (Index i = 0; i < n(); ++i) sum += static_cast<double>(Kokkos::abs(host_(i, c)));
    return std::isnan(sum) ? std::numeric_limits<double>::infinity() : sum;
  }
  [[nodiscard]] Index n() const { return static_cast<Index>(x_.extent(0)); }
  [[nodiscard]] int columns() const { return static_cast<int>(x_.extent(1)); }

 private:
  ExecutionSpace space_;
  LocalMatrix<T> x_, y_;
  Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::SharedHostPinnedSpace> host_;
};

// The largest 1-norm of columns of B, from all columns.
template <Scalar T> double norm1_by_columns(const ExecutionSpace& space, Index n, const ThinOperator<T>& apply) {
  const Blocks<T> block(space, n, static_cast<int>(n));
  for (int c = 0; c < n; ++c) {
    for (Index i = 0; i < n; ++i) block(i, c) = i == c ? T(1) : T(0);
  }
  block.apply(apply);
  double largest = 0.0;
  for (int c = 0; c < n; ++c) largest = std::max(largest, block.column_norm(c));
  return largest;
}

// Take the signs of the block. Columns that are parallel to earlier ones or to those of the previous round give no
// information and get other signs. Return false if no column is new. For complex B all signs count as new.
template <Scalar T> bool take_signs(const Blocks<T>& block, std::vector<T>& signs, int round) {
  const Index n = block.n();
  const int columns = block.columns();
  const std::vector<T> before = signs;
  signs.resize(static_cast<std::size_t>(n * columns));
  for (int c = 0; c < columns; ++c) {
    for (Index i = 0; i < n; ++i) signs[static_cast<std::size_t>(i + n * c)] = sign_of(block(i, c));
  }
  bool anything_new = true;
  if constexpr (!is_complex<T>) {
    const auto parallel = [n](const T* x, const T* y) {
      return std::abs(std::inner_product(x, x + n, y, 0.0)) == static_cast<double>(n);
    };
    const auto seen = [&](int c, int count) {
      const T* const column = signs.data() + n * c;
      for (int other = 0; other < count; ++other) {
        if (parallel(column, signs.data() + n * other)) return true;
      }
      for (int other = 0; other < columns && !before.empty(); ++other) {
        if (parallel(column, before.data() + n * other)) return true;
      }
      return false;
    };
    anything_new = before.empty();
    for (int c = 0; c < columns && !anything_new; ++c) anything_new = !seen(c, 0);
    // Each attempt has other signs; a few suffice if n is large enough for this algorithm.
    for (int c = 0; c < columns && anything_new; ++c) {
      for (int attempt = 1; attempt <= 8 && seen(c, c); ++attempt) {
        for (Index i = 0; i < n; ++i) {
          signs[static_cast<std::size_t>(i + n * c)] =
              static_cast<T>(fixed_sign(i, columns * (8 * round + attempt) + c));
        }
      }
    }
  }
  return anything_new;
}

template <Scalar S>
MatrixView<S> spare_block(const ExecutionSpace& space, MatrixView<S>& spare, Index n, Index columns) {
  if (static_cast<Index>(spare.extent(1)) < columns) {
    spare = LocalMatrix<S>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::expm::power_of_block"),
                           static_cast<std::size_t>(n), static_cast<std::size_t>(columns));
  }
  return block_of(spare, 0, n, 0, columns);
}

template <Scalar S>
void add_block(const ExecutionSpace& space, S factor, const MatrixView<const S>& X, const MatrixView<S>& Y) {
  const Elements<const S> from(X);
  const Elements<S> to(Y);
  for_each_element(
      space, "heddle::expm::add_block", static_cast<Index>(Y.extent(0)), static_cast<Index>(Y.extent(1)),
      KOKKOS_LAMBDA(Index i, Index c) { to(i, c) += factor * from(i, c); });
}

}  // namespace

template <Scalar T>
double estimate_norm1(const ExecutionSpace& space, Index n, int columns, const ThinOperator<T>& apply,
                      const ThinOperator<T>& apply_adjoint, int rounds) {
  if (n == 0) {
    return 0.0;
  }
  if (n <= 2 * columns) {
    return norm1_by_columns<T>(space, n, apply);
  }
  const Blocks<T> block(space, n, columns);
  for (int c = 0; c < columns; ++c) {
    for (Index i = 0; i < n; ++i) block(i, c) = T((c == 0 ? 1.0 : fixed_sign(i, c)) / static_cast<double>(n));
  }
  double estimate = 0.0;
  Index best = -1;           // The unit vector of the estimate.
  std::vector<Index> units;  // Indices of the block's unit vectors.
  std::vector<bool> tried(static_cast<std::size_t>(n), false);
  std::vector<T> signs;
  for (int round = 1;; ++round) {
    block.apply(apply);
    int largest = 0;
    for (int c = 1; c < columns; ++c) largest = block.column_norm(c) > block.column_norm(largest) ? c : largest;
    const double found = block.column_norm(largest);
    if (std::isinf(found) || (round > 1 && found <= estimate)) {
      return std::max(found, estimate);
    }
    estimate = found;
    best = units.empty() ? -1 : units[static_cast<std::size_t>(largest)];
    if (round == rounds || !take_signs(block, signs, round)) {
      return estimate;
    }
    for (int c = 0; c < columns; ++c) {
      for (Index i = 0; i < n; ++i) block(i, c) = signs[static_cast<std::size_t>(i + n * c)];
    }
    block.apply(apply_adjoint);
    std::vector<double> sizes(static_cast<std::size_t>(n), 0.0);
    for (int c = 0; c < columns; ++c) {
      for (Index i = 0; i < n; ++i) {
        double& size = sizes[static_cast<std::size_t>(i)];
        size = std::max(size, static_cast<double>(Kokkos::abs(block(i, c))));
      }
    }
    std::vector<Index> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Index{0});
    const auto larger = [&](Index i, Index j) {
      const double x = sizes[static_cast<std::size_t>(i)], y = sizes[static_cast<std::size_t>(j)];
      return x > y || (x == y && i < j);
    };
    // At most columns * rounds were tried before.
    const Index enough = std::min<Index>(n, static_cast<Index>(columns) * (rounds + 1));
    std::partial_sort(order.begin(), order.begin() + enough, order.end(), larger);
    if (best >= 0 && sizes[static_cast<std::size_t>(order[0])] == sizes[static_cast<std::size_t>(best)]) {
      return estimate;
    }
    const auto is_tried = [&](Index i) { return tried[static_cast<std::size_t>(i)]; };
    if (std::all_of(order.begin(), order.begin() + columns, is_tried)) {
      return estimate;
    }
    std::erase_if(order, is_tried);
    if (static_cast<int>(order.size()) < columns) {
      return estimate;
    }
    units.assign(order.begin(), order.begin() + columns);
    for (int c = 0; c < columns; ++c) {
      const Index unit = units[static_cast<std::size_t>(c)];
      tried[static_cast<std::size_t>(unit)] = true;
      for (Index i = 0; i < n; ++i) block(i, c) = i == unit ? T(1) : T(0);
    }
  }
}

template <Scalar T>
void multiply_repeatedly(const ExecutionSpace& space, const ThinOperator<T>& B, int k, const MatrixView<const T>& X,
                         const MatrixView<T>& Y, MatrixView<T>& spare) {
  const MatrixView<T> other =
      spare_block<T>(space, spare, static_cast<Index>(X.extent(0)), static_cast<Index>(X.extent(1)));
  MatrixView<const T> from = X;
  for (int i = 1; i <= k; ++i) {
    const MatrixView<T> to = (k - i) % 2 == 0 ? Y : other;
    B(from, to);
    from = to;
  }
}

template <RealScalar T>
PowerNormEstimate<T>::PowerNormEstimate(const Communicator& comm, const Parts<T>& A, int columns)
    : comm_(comm), columns_(columns) {
  const auto take = [&](const SharedMatrix<T>& part, auto& factor) {
    factor.emplace(comm_, *part);
    n_ = factor->size();
    largest_ = std::max(largest_, factor->largest());
  };
  if (A.real && A.imaginary) {
    take(A.real, both_.real);
    take(A.imaginary, both_.imaginary);
  } else if (A.real || A.imaginary) {
    take(A.real ? A.real : A.imaginary, alone_.real);
  }
  if (std::isfinite(largest_)) {
    // Columns of A / 2^exponent sum to 1 at most.
    std::frexp(2.0 * largest_ * static_cast<double>(n_), &exponent_);
  }
}

template <RealScalar T> bool PowerNormEstimate<T>::finite() const {
  return std::isfinite(largest_);
}

template <RealScalar T>
template <Scalar S>
void PowerNormEstimate<T>::multiply(Factors<S>& factors, bool adjoint, const MatrixView<const S>& X,
                                    const MatrixView<S>& Y) {
  const double scale = std::ldexp(1.0, -exponent_);
  const auto part = [&](ThinProducts<T, S>& factor, const MatrixView<S>& to) {
    return adjoint ? factor.multiply_adjoint(scale, X, to) : factor.multiply(scale, X, to);
  };
  part(*factors.real, Y);
  if constexpr (is_complex<S>) {
    const MatrixView<S> other = spare_block<S>(comm_.space(), factors.product, n_, static_cast<Index>(X.extent(1)));
    part(*factors.imaginary, other);
    add_block<S>(comm_.space(), S(0.0, adjoint ? -1.0 : 1.0), other, Y);
  }
  ++products_;
}

template <RealScalar T>
template <Scalar S>
ThinOperator<S> PowerNormEstimate<T>::power(Factors<S>& factors, bool adjoint, int k) {
  return [this, &factors, adjoint, k](const MatrixView<const S>& X, const MatrixView<S>& Y) {
    const auto once = [&](const MatrixView<const S>& from, const MatrixView<S>& to) {
      multiply<S>(factors, adjoint, from, to);
    };
    multiply_repeatedly<S>(comm_.space(), once, k, X, Y, factors.spare);
  };
}

template <RealScalar T> double PowerNormEstimate<T>::scaled_norm(int k) {
  if (largest_ == 0.0 || n_ == 0) {
    return 0.0;
  }
  const auto estimate = [&](auto& factors) {
    return estimate_norm1(comm_.space(), n_, columns_, power(factors, false, k), power(factors, true, k));
  };
  return both_.real ? estimate(both_) : estimate(alone_);
}

template <RealScalar T> double PowerNormEstimate<T>::norm(int k) {
  return std::ldexp(scaled_norm(k), exponent_ * k);
}

template <RealScalar T> double PowerNormEstimate<T>::root(int k) {
  return std::ldexp(libm::pow(scaled_norm(k), 1.0 / k), exponent_);
}

#define HEDDLE_INSTANTIATE(T)                                                                                          \
  template double estimate_norm1<T>(const ExecutionSpace&, Index, int, const ThinOperator<T>&, const ThinOperator<T>&, \
                                    int);                                                                              \
  template void multiply_repeatedly<T>(const ExecutionSpace&, const ThinOperator<T>&, int, const MatrixView<const T>&, \
                                       const MatrixView<T>&, MatrixView<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE
template <RealScalar T>
void learn_estimates(const Communicator& comm, const Parts<T>& power, int exponent, PowerNorms& norms) {
  PowerNormEstimate<T> estimate(comm, power);
  if (!estimate.finite()) {
    return;
  }
  for (const int k : {2, 3}) norms.learn(k * exponent, estimate.norm(k));
}

template class PowerNormEstimate<float>;
template void learn_estimates(const Communicator&, const Parts<float>&, int, PowerNorms&);
template void learn_estimates(const Communicator&, const Parts<double>&, int, PowerNorms&);
template class PowerNormEstimate<double>;

}  // namespace heddle::impl
