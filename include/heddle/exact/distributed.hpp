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

/// Replaces each accumulator by its exact sum over all ranks, on every rank: an MPI reduction whose bits depend on
/// nothing but the terms. Collective. T is float or double.
template <RealScalar T> void all_reduce(const Communicator& comm, std::span<Accumulator<T>> sums);

/// Does what MPI_Allreduce(send, receive, count, type, MPI_SUM, comm) does, with every element correctly rounded, so
/// that the bits are the same for any number of ranks that the terms come from. `type` is MPI_FLOAT, MPI_DOUBLE,
/// MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, or one of their Fortran and C++ names. Both arrays are in host memory;
/// `send` may be MPI_IN_PLACE. Returns MPI_SUCCESS or MPI_ERR_TYPE; MPI errors are handled by the communicator. Kokkos
/// need not be initialised.
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

/// The correctly rounded sum x_1 + ... + x_n of a vector of which each rank gives a part, empty or not. Collective; the
/// result is on every rank.
template <class View> [[nodiscard]] auto sum(const Communicator& comm, const View& x) {
  return compiled::sum<typename View::non_const_value_type>(comm, strided(x));
}
/// The correctly rounded inner product sum x_k y_k of vectors of which each rank gives a part, empty or not.
/// Collective; the result is on every rank. Throws Error(argument), on every rank alike, where the parts of x and y
/// differ in length.
template <class ViewX, class ViewY> [[nodiscard]] auto dot(const Communicator& comm, const ViewX& x, const ViewY& y) {
  return compiled::dot<typename ViewX::non_const_value_type>(comm, strided(x), strided(y), false);
}
/// The correctly rounded inner product sum conj(x_k) y_k of vectors of which each rank gives a part, empty or not.
/// Collective; the result is on every rank. Throws Error(argument), on every rank alike, where the parts of x and y
/// differ in length.
template <class ViewX, class ViewY> [[nodiscard]] auto dotc(const Communicator& comm, const ViewX& x, const ViewY& y) {
  return compiled::dot<typename ViewX::non_const_value_type>(comm, strided(x), strided(y), true);
}
/// The correctly rounded 2-norm of a vector of which each rank gives a part, empty or not. Collective; the result is on
/// every rank.
template <class View> [[nodiscard]] auto nrm2(const Communicator& comm, const View& x) {
  return compiled::nrm2<typename View::non_const_value_type>(comm, strided(x));
}

/// The condition of a sum, (|x_1| + ... + |x_n|) / |x_1 + ... + x_n|: by how much more a relative change of the terms
/// may change the sum.
///
/// For real numbers it is the quotient of the exact sums, rounded once. The moduli of complex numbers are rounded
/// before they are added up exactly, so that it is right to some units of the last place. It is never below 1, whatever
/// over- or underflows; 1 where every term is zero, infinite where the sum alone is zero or the quotient overflows, a
/// NaN where a term is not finite. Collective, for parts as in sum(), with the same bits on any number of ranks. Cost:
/// that of two sums that cancel, and some 100 flops for each complex term.
template <class View> [[nodiscard]] double sum_condition(const Communicator& comm, const View& x) {
  return compiled::sum_condition<typename View::non_const_value_type>(comm, strided(x));
}
/// The condition of an inner product, (|x_1 y_1| + ... + |x_n y_n|) / |x_1 y_1 + ... + x_n y_n|, as sum_condition() has
/// it for a sum. Throws Error(argument), on every rank alike, where the parts of x and y differ in length.
template <class ViewX, class ViewY>
[[nodiscard]] double dot_condition(const Communicator& comm, const ViewX& x, const ViewY& y) {
  return compiled::dot_condition<typename ViewX::non_const_value_type>(comm, strided(x), strided(y), false);
}
/// The condition of the inner product of conj(x_k) and y_k, as dot_condition() has it for x_k and y_k. Throws as it
/// does.
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
/// Columns are dealt out to the ranks in blocks of as many as are factored together, 64 on CPUs and 128 on GPUs unless
/// options.block says otherwise (at most 128 on GPUs); a matrix that is not placed so already travels there and back. A
/// rank factors its panel and sends it to those that have columns on its right, which take it off these. Throws
/// Error(argument), on every rank alike, for a negative block and for another algorithm than Algorithm::automatic.
///
/// Cost: that of lu() shared out among the ranks, but for the panels, during which the others wait; m n / 2 elements
/// received by each rank. Memory of a rank, of several: its share of m n elements and 24 bytes for each of them (48 if
/// complex), and m min(m, n) elements for L, which exact sums of rows that have moved need whole.
template <Scalar T> LuResult lu(const Communicator& comm, const DistributedMatrix<T>& A, const LuOptions& options = {});

/// Solves op(A) x = b for a distributed triangular A as trsv() of one rank does. x is whole on every rank, in host
/// memory, holds b on entry and the solution afterwards, and has the same elements on every rank. Collective, blocks.
/// Throws Error(argument), on every rank alike, for shapes that don't fit. Bits: those of trsv() of the whole matrix on
/// one rank, whatever the ranks and the placement.
///
/// Rows of op(A) are dealt out to the ranks in blocks of 64 (32 of complex double), and A travels once where it is not
/// placed so already: for Operation::none in blocks of rows, otherwise of columns. The rank of a block finds its x,
/// tells all ranks, and each takes it off its rows. Cost: that of trsv() shared out, but for the rows on the diagonal
/// blocks, and a broadcast for each block; refinements as there.
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void trsv(const Communicator& comm, Triangle triangle, Operation op, Diagonal diagonal, const DistributedMatrix<T>& A,
          std::span<std::type_identity_t<T>> x, int refinements = 0);

}  // namespace heddle::exact
