#include "interpose/general.hpp"

#include "core/instantiate.hpp"
#include "interpose/arithmetic.hpp"
#include "interpose/balance.hpp"
#include "interpose/fixed_order.hpp"
#include "interpose/hessenberg.hpp"
#include "interpose/product.hpp"
#include "interpose/schur.hpp"
#include "interpose/schur_vectors.hpp"
#include "interpose/sums.hpp"

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

  Index run(T* VL, Index leading_l, T* VR, Index leading_r) {
    R largest{0};
    bool finite = true;
    for (Index j = 0; j < n_; ++j) {
      for (Index i = 0; i < n_; ++i) {
        const R size = largest_part(A_[i + j * leading_]);
        finite = finite && std::isfinite(size);
        largest = std::max(largest, size);
      }
    }
    if (!finite) return give_up(VL, leading_l, VR, leading_r);
    const int exponent = largest > R{0} ? std::ilogb(largest) : 0;
    for (Index j = 0; j < n_; ++j) {
      for (Index i = 0; i < n_; ++i) A_[i + j * leading_] = scaled(A_[i + j * leading_], -exponent);
    }
    const Balance<T> balance(n_, A_, leading_);
    std::vector<T> tau(static_cast<std::size_t>(n_));
    gehrd<T>(n_, balance.low(), balance.high(), A_, leading_, tau.data());
    const bool vectors = VL != nullptr || VR != nullptr;
    std::vector<T> Z;
    if (vectors) Z = orghr<T>(n_, balance.low(), balance.high(), A_, leading_, tau.data());
    // Reflectors' vectors are in place of zeros.
    for (Index j = 0; j < n_; ++j) {
      for (Index i = j + 2; i < n_; ++i) A_[i + j * leading_] = T{0};
    }
    const Index missing =
        schur<T>(vectors, n_, balance.low(), balance.high(), A_, leading_, w_, vectors ? Z.data() : nullptr, n_);
    if (missing == 0) {
      if (VL != nullptr) give(true, balance, Z, VL, leading_l);
      if (VR != nullptr) give(false, balance, Z, VR, leading_r);
    }
    for (Index i = 0; i < n_; ++i) w_[i] = scaled(w_[i], exponent);
    return missing;
  }

 private:
  Index give_up(T* VL, Index leading_l, T* VR, Index leading_r) {
    constexpr R none = std::numeric_limits<R>::quiet_NaN();
    for (Index j = 0; j < n_; ++j) {
      w_[j] = Kokkos::complex<R>(none, none);
      if (VL != nullptr) std::fill_n(VL + j * leading_l, n_, T(none));
      if (VR != nullptr) std::fill_n(VR + j * leading_r, n_, T(none));
    }
    return n_;
  }
  // Z's products with the Schur form's vectors, as A has them.
  void give(bool left, const Balance<T>& balance, const std::vector<T>& Z, T* V, Index leading) const {
    const std::vector<T> X = schur_vectors<T>(left, n_, A_, leading_);
    Product<T> product{Operation::none, Operation::none, n_, n_, n_, T{1}, Z.data(), n_, X.data(), n_, T{0}, V,
                       leading};
    product.fallback = Fallback::none;
    multiply<T>(product);
    balance.restore(left, n_, V, leading);
    normalise_all<T>(n_, w_, V, leading);
  }

  Index n_;
  T* A_;
  Index leading_;
  Kokkos::complex<R>* w_;
};

}  // namespace

template <Scalar T>
Index geev(Index n, T* A, Index leading, Kokkos::complex<Real<T>>* w, T* VL, Index leading_l, T* VR, Index leading_r) {
  if (n == 0) return 0;
  const Arithmetic arithmetic;
  return General<T>(n, A, leading, w).run(VL, leading_l, VR, leading_r);
}

#define HEDDLE_INSTANTIATE(T) template Index geev<T>(Index, T*, Index, Kokkos::complex<Real<T>>*, T*, Index, T*, Index)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
