// Splitting of a complex matrix into two real ones, and the inverse.
#include "core/elementwise.hpp"
#include <heddle/dist/split_matrix.hpp>

namespace heddle {

template <RealScalar T> SplitMatrix<T> split(const DistributedMatrix<Kokkos::complex<T>>& A) {
  SplitMatrix<T> parts{DistributedMatrix<T>(A.communicator(), A.placement(), "real_part"),
                       DistributedMatrix<T>(A.communicator(), A.placement(), "imaginary_part")};
  const impl::Elements<Kokkos::complex<T>> a(A.local());
  const impl::Elements<T> real(parts.real->local());
  const impl::Elements<T> imaginary(parts.imaginary->local());
  impl::for_each_element(
      A.communicator().space(), "heddle::dist::split", static_cast<Index>(A.local().extent(0)),
      static_cast<Index>(A.local().extent(1)), KOKKOS_LAMBDA(Index i, Index j) {
        real(i, j) = a(i, j).real();
        imaginary(i, j) = a(i, j).imag();
      });
  return parts;
}

namespace {

// The part in the wanted placement: itself, a redistributed copy, or zeros where it is left out.
template <RealScalar T>
DistributedMatrix<T> part_in(const std::optional<DistributedMatrix<T>>& part, const Communicator& comm,
                             const Placement& placement) {
  if (part && part->placement() == placement) {
    return *part;
  }
  DistributedMatrix<T> result(comm, placement, "part");
  if (part) {
    redistribute(*part, result);
  } else {
    fill(result, T{0});
  }
  return result;
}

}  // namespace

template <RealScalar T> void join(const SplitMatrix<T>& parts, const DistributedMatrix<Kokkos::complex<T>>& A) {
  const Communicator& comm = A.communicator();
  const DistributedMatrix<T> real_part = part_in(parts.real, comm, A.placement());
  const DistributedMatrix<T> imaginary_part = part_in(parts.imaginary, comm, A.placement());
  const impl::Elements<Kokkos::complex<T>> a(A.local());
  const impl::Elements<T> real(real_part.local());
  const impl::Elements<T> imaginary(imaginary_part.local());
  impl::for_each_element(
      comm.space(), "heddle::dist::join", static_cast<Index>(A.local().extent(0)),
      static_cast<Index>(A.local().extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { a(i, j) = Kokkos::complex<T>(real(i, j), imaginary(i, j)); });
  comm.space().fence("heddle::dist::join");
}

template SplitMatrix<float> split<float>(const DistributedMatrix<Kokkos::complex<float>>&);
template SplitMatrix<double> split<double>(const DistributedMatrix<Kokkos::complex<double>>&);
template void join<float>(const SplitMatrix<float>&, const DistributedMatrix<Kokkos::complex<float>>&);
template void join<double>(const SplitMatrix<double>&, const DistributedMatrix<Kokkos::complex<double>>&);

}  // namespace heddle
