// Bound of the 2-norm of a Hermitian matrix by Lanczos steps.
#include "expm/thin/spectral_bound.hpp"

#include "expm/thin/thin_products.hpp"
#include "expm/thin/workspace.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::impl {
namespace {

template <Scalar T>
double largest_eigenvalue(const Communicator& comm, Index n, typename ActionProblem<T>::Apply apply) {
  constexpr Index steps = 10;
  ActionProblem<T> problem;
  problem.space = comm.space();
  problem.n = n;
  problem.structure = ExpmActionStructure::hermitian;
  problem.apply = std::move(apply);
  ActionWorkspace<T> work(comm.space());
  ExpmActionReport report;
  const ExpmActionOptions::Interval spectrum = spectrum_of(problem, work, report, {.steps = steps}).interval;
  return std::max(std::abs(spectrum.least), std::abs(spectrum.largest));
}

}  // namespace

template <RealScalar T> double spectral_bound(const Communicator& comm, const Parts<T>& A) {
  double largest = 0.0;
  const Index n = (A.real ? A.real : A.imaginary)->rows();
  if (A.real && A.imaginary) {
    using S = Kokkos::complex<T>;
    ThinProducts<T, S> real(comm, *A.real);
    ThinProducts<T, S> imaginary(comm, *A.imaginary);
    const LocalMatrix<S> other(
        Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::expm::spectral_bound"),
        static_cast<std::size_t>(n), 1);
    largest = largest_eigenvalue<S>(comm, n, [&](const MatrixView<const S>& X, const MatrixView<S>& Y) {
      real.multiply(T{1}, X, Y);
      imaginary.multiply(T{1}, X, other);
      add_scaled<S>(comm.space(), S(T{0}, T{1}), other, S(T{1}), Y);
    });
  } else {
    ThinProducts<T, T> alone(comm, A.real ? *A.real : *A.imaginary);
    largest = largest_eigenvalue<T>(
        comm, n, [&](const MatrixView<const T>& X, const MatrixView<T>& Y) { alone.multiply(T{1}, X, Y); });
  }
  int exponent = 0;
  const double mantissa = std::frexp(largest * (1.0 + 0x1p-6), &exponent);
  return std::ldexp(std::ceil(mantissa * 0x1p7), exponent - 7);
}

template double spectral_bound<float>(const Communicator&, const Parts<float>&);
template double spectral_bound<double>(const Communicator&, const Parts<double>&);

}  // namespace heddle::impl
