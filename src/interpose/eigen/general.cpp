// Eigenvalues and eigenvectors of general matrices, in a fixed sequence of operations.
#include "interpose/eigen/general.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/blas/product.hpp"
#include "interpose/blas/sums.hpp"
#include "interpose/eigen/balance.hpp"
#include "interpose/eigen/fixed_order.hpp"
#include "interpose/eigen/hessenberg.hpp"
#include "interpose/eigen/schur.hpp"
#include "interpose/eigen/schur_vectors.hpp"

#include <limits>

namespace heddle::impl::interpose {
namespace {

// A vector, whose imaginary part y is null where it has none, becomes 1 long and its largest element real.
template <RealScalar R> void normalise(Index n, R* x, R* y) {
  R largest{0};
  for (Index i = 0; i < n; ++i) {
    largest = std::max({largest, std::abs(x[i]), y == nullptr ? R{0} : std::abs(y[i])});
  }
  if (!(largest > R{0}) || !std::isfinite(largest)) return;
  const int exponent = std::ilogb(largest);
  const auto scale = [&](R* part) {
    for (Index i = 0; i < n; ++i) part[i] = std::scalbn(part[i], -exponent);
  };
  scale(x);
  if (y != nullptr) scale(y);
  const R length = std::sqrt(fixed_dot(n, x, x) + (y == nullptr ? R{0} : fixed_dot(n, y, y)));
  if (y == nullptr) {
    for (Index i = 0; i < n; ++i) x[i] /= length;
    return;
  }
  Index at = 0;
  R most{-1};
  for (Index i = 0; i < n; ++i) {
    x[i] /= length;
    y[i] /= length;
    const R size = x[i] * x[i] + y[i] * y[i];
    if (size > most) {
      most = size;
      at = i;
    }
  }
  const Direction<R> direction(x[at], y[at]);
  for (Index i = 0; i < n; ++i) {
    const R re = direction.of_x * x[i] + direction.of_y * y[i];
    y[i] = direction.of_x * y[i] - direction.of_y * x[i];
    x[i] = re;
  }
  y[at] = R{0};
}
template <Scalar T> void normalise_all(Index n, const Kokkos::complex<Real<T>>* w, T* V, Index leading) {
  using R = Real<T>;
  if constexpr (is_complex<T>) {
    std::vector<R> parts(static_cast<std::size_t>(2 * n));
    R* const re = parts.data();
    R* const im = re + n;
    for (Index j = 0; j < n; ++j) {
      T* const column = V + j * leading;
      for (Index i = 0; i < n; ++i) {
        re[i] = column[i].real();
        im[i] = column[i].imag();
      }
      normalise(n, re, im);
      for (Index i = 0; i < n; ++i) column[i] = T(re[i], im[i]);
    }
  } else {
    for (Index j = 0; j < n; ++j) {
      const bool pair = w[j].imag() != R{0};
      normalise(n, V + j * leading, pair ? V + (j + 1) * leading : nullptr);
      if (pair) ++j;
    }
  }
}

template <Scalar T> class General {
 public:
  using R = Real<T>;
  General(Index n, T* A, Index leading, Kokkos::complex<R>* w) : n_(n), A_(A), leading_(leading), w_(w) {}

  Index vectors(T* VL, Index leading_l, T* VR, Index leading_r) {
    if (!scale_down()) {
      give_up(VL, leading_l);
      give_up(VR, leading_r);
      return n_;
    }
    const Balance<T> balance(n_, A_, leading_, true);
    std::vector<T> Z;
    const bool wanted = VL != nullptr || VR != nullptr;
    const Index missing = reduce(balance, wanted, wanted, Z);
    if (missing == 0) {
      if (VL != nullptr) give(true, balance, Z, VL, leading_l);
      if (VR != nullptr) give(false, balance, Z, VR, leading_r);
    }
    for (Index i = 0; i < n_; ++i) w_[i] = scaled(w_[i], exponent_);
    return missing;
  }
  Index form(T* VS, Index leading_s) {
    if (!scale_down()) {
      give_up(VS, leading_s);
      give_up(A_, leading_);
      return n_;
    }
    const Balance<T> balance(n_, A_, leading_, false);
    std::vector<T> Z;
    const Index missing = reduce(balance, true, VS != nullptr, Z);
    if (VS != nullptr) {
      for (Index j = 0; j < n_; ++j) std::copy_n(Z.data() + j * n_, n_, VS + j * leading_s);
      balance.restore(false, n_, VS, leading_s);
    }
    for (Index j = 0; j < n_; ++j) {
      w_[j] = scaled(w_[j], exponent_);
      for (Index i = 0; i < n_; ++i) A_[i + j * leading_] = scaled(A_[i + j * leading_], exponent_);
    }
    return missing;
  }

 private:
  // The largest element becomes one near 1; false where one is no number.
  bool scale_down() {
    R largest{0};
    for (Index j = 0; j < n_; ++j) {
      for (Index i = 0; i < n_; ++i) {
        const R size = largest_part(A_[i + j * leading_]);
        if (!std::isfinite(size)) return false;
        largest = std::max(largest, size);
      }
    }
    exponent_ = largest > R{0} ? std::ilogb(largest) : 0;
    for (Index j = 0; j < n_; ++j) {
      for (Index i = 0; i < n_; ++i) A_[i + j * leading_] = scaled(A_[i + j * leading_], -exponent_);
    }
    return true;
  }
  // To the Schur form, or to its eigenvalues, and the transformation.
  Index reduce(const Balance<T>& balance, bool whole, bool transformation, std::vector<T>& Z) {
    std::vector<T> tau(static_cast<std::size_t>(n_));
    gehrd<T>(n_, balance.low(), balance.high(), A_, leading_, tau.data());
    if (transformation) Z = orghr<T>(n_, balance.low(), balance.high(), A_, leading_, tau.data());
    // Reflectors' vectors are in place of zeros.
    for (Index j = 0; j < n_; ++j) {
      for (Index i = j + 2; i < n_; ++i) A_[i + j * leading_] = T{0};
    }
    return schur<T>(whole, n_, balance.low(), balance.high(), A_, leading_, w_, transformation ? Z.data() : nullptr,
                    n_);
  }
  void give_up(T* V, Index leading) {
    constexpr R none = std::numeric_limits<R>::quiet_NaN();
    std::fill_n(w_, n_, Kokkos::complex<R>(none, none));
    for (Index j = 0; V != nullptr && j < n_; ++j) std::fill_n(V + j * leading, n_, T(none));
  }
  // Z's products with the Schur form's vectors, as A has them.
  void give(bool left, const Balance<T>& balance, const std::vector<T>& Z, T* V, Index leading) const {
    const std::vector<T> X = schur_vectors<T>(left, n_, A_, leading_);
    multiply<T>({Operation::none, Operation::none, n_, n_, n_, T{1}, Z.data(), n_, X.data(), n_, T{0}, V, leading});
    balance.restore(left, n_, V, leading);
    normalise_all<T>(n_, w_, V, leading);
  }

  Index n_;
  T* A_;
  Index leading_;
  Kokkos::complex<R>* w_;
  int exponent_ = 0;
};

}  // namespace

template <Scalar T>
Index geev(Index n, T* A, Index leading, Kokkos::complex<Real<T>>* w, T* VL, Index leading_l, T* VR, Index leading_r) {
  if (n == 0) return 0;
  const Arithmetic arithmetic;
  return General<T>(n, A, leading, w).vectors(VL, leading_l, VR, leading_r);
}

template <Scalar T> Index gees(Index n, T* A, Index leading, Kokkos::complex<Real<T>>* w, T* VS, Index leading_s) {
  if (n == 0) return 0;
  const Arithmetic arithmetic;
  return General<T>(n, A, leading, w).form(VS, leading_s);
}

#define HEDDLE_INSTANTIATE(T)                                                                \
  template Index geev<T>(Index, T*, Index, Kokkos::complex<Real<T>>*, T*, Index, T*, Index); \
  template Index gees<T>(Index, T*, Index, Kokkos::complex<Real<T>>*, T*, Index)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
