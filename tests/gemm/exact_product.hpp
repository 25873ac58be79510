// Exact products, as references for emulated ones.
#pragma once

#include "support/matrices.hpp"
#include <heddle/exact/matrix.hpp>

#include <cmath>

namespace heddle::test {

/// AB, rounded once.
template <Scalar T> HostMatrix<T> exact_product(const HostMatrix<T>& A, const HostMatrix<T>& B) {
  const ExecutionSpace space;
  const LocalMatrix<T> C("heddle::test::exact", A.extent(0), B.extent(1));
  exact::gemm(space, Operation::none, Operation::none, T(1), padded_on_device(A), padded_on_device(B), T(0), C);
  space.fence();
  return to_host<T>(C);
}

/// |x| in double.
template <Scalar T> double size_of(const T& x) {
  if constexpr (is_complex<T>) {
    return std::hypot(static_cast<double>(x.real()), static_cast<double>(x.imag()));
  } else {
    return std::abs(static_cast<double>(x));
  }
}

}  // namespace heddle::test
