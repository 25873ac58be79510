// Exact sums over ranks: the same bits for any number of them and any distribution of the data.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/dist/matrix.hpp>
#include <heddle/exact/accumulator.hpp>
#include <heddle/exact/matrix.hpp>

#include <span>
#include <type_traits>

namespace heddle::exact {

/// The exact sum over the ranks of each accumulator, in place, on every rank: an MPI reduction whose bits depend on
/// nothing but the terms. Collective. T is float or double.
template <RealScalar T> void all_reduce(const Communicator& comm, std::span<Accumulator<T>> sums);

/// MPI_Allreduce(send, receive, count, type, MPI_SUM, comm) with every element correctly rounded, and so the same bits
/// for any number of ranks that the terms come from. type: MPI_FLOAT, MPI_DOUBLE, MPI_C_FLOAT_COMPLEX,
/// MPI_C_DOUBLE_COMPLEX, and their Fortran and C++ names; host memory; `send` may be MPI_IN_PLACE. Returns MPI_SUCCESS
/// or MPI_ERR_TYPE; errors of MPI are the communicator's. Does not need Kokkos to be initialised.
///
/// Cost: each element is received twice by someone, as in MPI's own, and summed once by one rank.
int allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Comm comm);

namespace compiled {

template <Scalar T> T sum(const Communicator& comm, const StridedVector<const T>& x);
template <Scalar T>
T dot(const Communicator& comm, const StridedVector<const T>& x, const StridedVector<const T>& y, bool conjugated);
template <Scalar T> Real<T> nrm2(const Communicator& comm, const StridedVector<const T>& x);
template <Scalar T> double sum_condition(const Communicator& comm, const StridedVector<const T>& x);
template <Scalar T>
double dot_condition(const Communicator& comm, const StridedVector<const T>& x, const StridedVector<const T>& y,
                     bool conjugated);

}  // namespace compiled

/// sum(), dot(), dotc() and nrm2() of a vector of which each rank gives a part, empty or not. Collective; the result is
/// on every rank. Throws Error(argument), on every rank alike, where the parts of x and y differ in length.
template <class View> [[nodiscard]] auto sum(const Communicator& comm, const View& x) {
  return compiled::sum<typename View::non_const_value_type>(comm, strided(x));
}
template <class ViewX, class ViewY> [[nodiscard]] auto dot(const Communicator& comm, const ViewX& x, const ViewY& y) {
  return compiled::dot<typename ViewX::non_const_value_type>(comm, strided(x), strided(y), false);
}
template <class ViewX, class ViewY> [[nodiscard]] auto dotc(const Communicator& comm, const ViewX& x, const ViewY& y) {
  return compiled::dot<typename ViewX::non_const_value_type>(comm, strided(x), strided(y), true);
}
template <class View> [[nodiscard]] auto nrm2(const Communicator& comm, const View& x) {
  return compiled::nrm2<typename View::non_const_value_type>(comm, strided(x));
}

/// (|x_1| + ... + |x_n|) / |x_1 + ... + x_n|, and the same of x_k y_k or conj(x_k) y_k: by how much more a relative
/// change of the terms may change the sum. Of real numbers the quotient of the exact sums, rounded once; of complex
/// ones moduli are rounded before they are added up exactly, so that it is right to some units of the last place. Never
/// below 1, whatever over- or underflows; 1 where every term is zero, infinite where the sum alone is or the quotient
/// overflows, a NaN where a term is not finite. Collective, for parts as in sum(); the same bits on any number of
/// ranks. Cost: that of sums that cancel, twice, and some 100 flops a term of complex numbers. Throws as dot() does.
template <class View> [[nodiscard]] double sum_condition(const Communicator& comm, const View& x) {
  return compiled::sum_condition<typename View::non_const_value_type>(comm, strided(x));
}
template <class ViewX, class ViewY>
[[nodiscard]] double dot_condition(const Communicator& comm, const ViewX& x, const ViewY& y) {
  return compiled::dot_condition<typename ViewX::non_const_value_type>(comm, strided(x), strided(y), false);
}
template <class ViewX, class ViewY>
[[nodiscard]] double dotc_condition(const Communicator& comm, const ViewX& x, const ViewY& y) {
  return compiled::dot_condition<typename ViewX::non_const_value_type>(comm, strided(x), strided(y), true);
}

/// y = alpha op(A) x + beta y for a distributed A; x and y are whole on every rank, in host memory, and y is the same
/// there before and after. Bits: those of gemv() of the whole matrix on one rank. Collective. Throws Error(argument)
/// for lengths that don't fit. Cost: each rank's part of A once; 48 bytes a row and rank sent (96 if complex).
template <Scalar T>
void gemv(const Communicator& comm, Operation op, std::type_identity_t<T> alpha, const DistributedMatrix<T>& A,
          std::span<const std::type_identity_t<T>> x, std::type_identity_t<T> beta,
          std::span<std::type_identity_t<T>> y);

}  // namespace heddle::exact
