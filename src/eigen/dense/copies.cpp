// Copies of matrices: whole Hermitian ones, permuted ones, adjoints, the identity, and rounded ones.
#include "eigen/dense/copies.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "eigen/dense/rotation.hpp"

namespace heddle::eigen::impl {

using heddle::impl::for_each_element;

namespace {

template <Scalar T, Scalar W> KOKKOS_INLINE_FUNCTION T narrowed(const W& x) {
  using R = Real<T>;
  if constexpr (is_complex<T>) {
    return T(static_cast<R>(x.real()), static_cast<R>(x.imag()));
  } else {
    return static_cast<R>(x);
  }
}

}  // namespace

template <Scalar W, Scalar T> Dense<W> whole(const ExecutionSpace& space, const StridedMatrix<const T>& A, bool upper) {
  const auto n = static_cast<Index>(A.extent(0));
  const Dense<W> copy = dense<W>(space, "heddle::eigen::whole", n, n);
  for_each_element(
      space, "heddle::eigen::whole", n, n, KOKKOS_LAMBDA(Index i, Index j) {
        const bool here = upper ? i <= j : i >= j;
        const T value = here ? A(i, j) : conjugate(A(j, i));
        copy(i, j) = W(i == j ? T(real_part(value)) : value);
      });
  return copy;
}

template <Scalar T> Dense<T> permuted(const ExecutionSpace& space, const Dense<T>& A, const Values<Index>& order) {
  const auto n = static_cast<Index>(A.extent(0));
  const Dense<T> copy = dense<T>(space, "heddle::eigen::permuted", n, n);
  for_each_element(
      space, "heddle::eigen::permuted", n, n, KOKKOS_LAMBDA(Index i, Index j) { copy(i, j) = A(order(i), order(j)); });
  return copy;
}

template <Scalar T> Dense<T> adjoint(const Scratch& scratch, const Dense<T>& A) {
  const auto m = static_cast<Index>(A.extent(0));
  const auto n = static_cast<Index>(A.extent(1));
  const Dense<T> copy = dense<T>(scratch, "heddle::eigen::adjoint", n, m);
  for_each_element(
      scratch.space(), "heddle::eigen::adjoint", n, m,
      KOKKOS_LAMBDA(Index i, Index j) { copy(i, j) = conjugate(A(j, i)); });
  return copy;
}

template <Scalar T> Dense<T> identity(const ExecutionSpace& space, Index n) {
  const Dense<T> I = dense<T>(space, "heddle::eigen::identity", n, n);
  for_each_element(
      space, "heddle::eigen::identity", n, n, KOKKOS_LAMBDA(Index i, Index j) { I(i, j) = i == j ? T(1) : T(0); });
  return I;
}

template <Scalar T, Scalar W>
void copy_rounded(const ExecutionSpace& space, const Dense<W>& from, const StridedMatrix<T>& to) {
  for_each_element(
      space, "heddle::eigen::copy_rounded", static_cast<Index>(from.extent(0)), static_cast<Index>(from.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { to(i, j) = narrowed<T>(from(i, j)); });
}

#define HEDDLE_INSTANTIATE(T)                                                                  \
  template Dense<T> whole<T, T>(const ExecutionSpace&, const StridedMatrix<const T>&, bool);   \
  template Dense<T> permuted<T>(const ExecutionSpace&, const Dense<T>&, const Values<Index>&); \
  template Dense<T> adjoint<T>(const Scratch&, const Dense<T>&);                               \
  template Dense<T> identity<T>(const ExecutionSpace&, Index)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(T, W)                                                             \
  template Dense<W> whole<W, T>(const ExecutionSpace&, const StridedMatrix<const T>&, bool); \
  template void copy_rounded<T, W>(const ExecutionSpace&, const Dense<W>&, const StridedMatrix<T>&)
HEDDLE_INSTANTIATE(float, double);
HEDDLE_INSTANTIATE(Kokkos::complex<float>, Kokkos::complex<double>);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
