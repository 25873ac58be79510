// Exact sums, products and factorizations over ranks: the same bits for any number of ranks and any distribution of the
// data.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/dist/matrix.hpp>
#include <heddle/exact/accumulator.hpp>
#include <heddle/exact/lu.hpp>

#include <span>
#include <type_traits>

namespace heddle::exact {

/// Replaces each accumulator by its exact sum over all ranks, on every rank: an MPI reduction whose bits depend only on
/// the terms. Collective. T is float or double.
template <RealScalar T> void all_reduce(const Communicator& comm, std::span<Accumulator<T>> sums);

/// Does what MPI_Allreduce(send, receive, count, type, MPI_SUM, comm) does, with every element correctly rounded, so
/// that the bits do not depend on the number of ranks. `type` is MPI_FLOAT, MPI_DOUBLE, MPI_C_FLOAT_COMPLEX,
/// MPI_C_DOUBLE_COMPLEX, or one of their Fortran and C++ names. Both arrays are in host memory; `send` may be
/// MPI_IN_PLACE. Returns MPI_SUCCESS, MPI_ERR_TYPE, or MPI_ERR_COUNT for a negative count; MPI errors are handled by
/// the communicator. Kokkos need not be initialised.
///
/// Cost: each element is received twice by some rank, as in MPI's own reductions, and summed once by one rank.
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

/// Returns the correctly rounded sum x_1 + ... + x_n of a vector; each rank gives a part, empty or not. Collective; the
/// result is on every rank.
template <class View> [[nodiscard]] auto sum(const Communicator& comm, const View& x) {
  return compiled::sum<typename View::non_const_value_type>(comm, strided(x));
}
/// Returns the correctly rounded inner product sum x_k y_k of vectors; each rank gives a part, empty or not.
/// Collective; the result is on every rank. Throws Error(argument), on every rank alike, if the parts of x and y differ
/// in length.
template <class ViewX, class ViewY> [[nodiscard]] auto dot(const Communicator& comm, const ViewX& x, const ViewY& y) {
  return compiled::dot<typename ViewX::non_const_value_type>(comm, strided(x), strided(y), false);
}
/// Returns the correctly rounded inner product sum conj(x_k) y_k of vectors; each rank gives a part, empty or not.
/// Collective; the result is on every rank. Throws Error(argument), on every rank alike, if the parts of x and y differ
/// in length.
template <class ViewX, class ViewY> [[nodiscard]] auto dotc(const Communicator& comm, const ViewX& x, const ViewY& y) {
  return compiled::dot<typename ViewX::non_const_value_type>(comm, strided(x), strided(y), true);
}
/// Returns the correctly rounded 2-norm of a vector; each rank gives a part, empty or not. Collective; the result is on
/// every rank.
template <class View> [[nodiscard]] auto nrm2(const Communicator& comm, const View& x) {
  return compiled::nrm2<typename View::non_const_value_type>(comm, strided(x));
}

/// Returns the condition of a sum, (|x_1| + ... + |x_n|) / |x_1 + ... + x_n|: the factor by which a relative change of
/// the terms may grow in the sum.
///
/// For real numbers it is the quotient of the exact sums, rounded once. The moduli of complex numbers are rounded
/// before they are added exactly, so that it is right to some units in the last place. It is never below 1, whatever
/// over- or underflows; 1 if every term is zero, infinite if only the sum is zero or the quotient overflows, a NaN if a
/// term is not finite. Collective, for parts as in sum(), with the same bits on any number of ranks. Cost: that of two
/// sums that cancel, and some 100 flops for each complex term.
template <class View> [[nodiscard]] double sum_condition(const Communicator& comm, const View& x) {
  return compiled::sum_condition<typename View::non_const_value_type>(comm, strided(x));
}
/// Returns the condition of an inner product, (|x_1 y_1| + ... + |x_n y_n|) / |x_1 y_1 + ... + x_n y_n|, as
/// sum_condition() does for a sum. Throws Error(argument), on every rank alike, if the parts of x and y differ in
/// length.
template <class ViewX, class ViewY>
[[nodiscard]] double dot_condition(const Communicator& comm, const ViewX& x, const ViewY& y) {
  return compiled::dot_condition<typename ViewX::non_const_value_type>(comm, strided(x), strided(y), false);
}
/// Returns the condition of the inner product of conj(x_k) and y_k, as dot_condition() does for x_k and y_k. Throws as
/// it does.
template <class ViewX, class ViewY>
[[nodiscard]] double dotc_condition(const Communicator& comm, const ViewX& x, const ViewY& y) {
  return compiled::dot_condition<typename ViewX::non_const_value_type>(comm, strided(x), strided(y), true);
}

/// Computes y = alpha op(A) x + beta y for a distributed A. x and y are whole on every rank, in host memory, and y has
/// the same elements on every rank before and after. Collective. Throws Error(argument) for lengths that don't fit.
/// Bits: those of gemv() of the whole matrix on one rank. Cost: one pass over each rank's part of A; each rank sends 48
/// bytes for each row (96 for complex T) and rank.
template <Scalar T>
void gemv(const Communicator& comm, Operation op, std::type_identity_t<T> alpha, const DistributedMatrix<T>& A,
          std::span<const std::type_identity_t<T>> x, std::type_identity_t<T> beta,
          std::span<std::type_identity_t<T>> y);

/// Computes P A = L U in place for a distributed m x n matrix A of any placement, as lu() of one rank does. The result
/// is on every rank. Collective, blocks. Bits: those of lu() of the whole matrix on one rank, whatever the ranks, the
/// placement and options.block.
///
/// Columns are distributed over the ranks in blocks of as many as are factored together, 64 on CPUs and 128 on GPUs
/// unless options.block says otherwise (at most 128 on GPUs); a matrix with another placement is redistributed there
/// and back. A rank factors its panel and sends it to the ranks that have columns on its right, which subtract its
/// products from them. Throws Error(argument), on every rank alike, for a negative block and for another algorithm than
/// Algorithm::automatic.
///
/// Cost: that of lu() divided among the ranks, except for the panels, during which the other ranks wait; each rank
/// receives m n / 2 elements. Memory of each of several ranks: its share of m n elements and 24 bytes for each of them
/// (48 if complex), and m min(m, n) elements for all of L, which exact sums of moved rows need.
template <Scalar T> LuResult lu(const Communicator& comm, const DistributedMatrix<T>& A, const LuOptions& options = {});

/// Solves op(A) x = b for a distributed triangular A as trsv() of one rank does. x is whole on every rank, in host
/// memory, holds b on entry and the solution on return, and has the same elements on every rank. Collective, blocks.
/// Throws Error(argument), on every rank alike, for shapes that don't fit. Bits: those of trsv() of the whole matrix on
/// one rank, whatever the ranks and the placement.
///
/// Rows of op(A) are distributed over the ranks in blocks of 64 (32 of complex double), and A is redistributed once if
/// it has another placement: for Operation::none in blocks of rows, otherwise of columns. The rank of a block solves
/// for its x and broadcasts it; each rank subtracts the products from its rows. Cost: that of trsv() divided among the
/// ranks, except for the rows of the diagonal blocks, and a broadcast for each block; refinements as there.
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void trsv(const Communicator& comm, Triangle triangle, Operation op, Diagonal diagonal, const DistributedMatrix<T>& A,
          std::span<std::type_identity_t<T>> x, int refinements = 0);

}  // namespace heddle::exact
