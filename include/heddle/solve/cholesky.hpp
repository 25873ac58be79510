// Cholesky factorization over all ranks, natively or with the same bits everywhere, and the solution of systems with
// it.
#pragma once

#include <heddle/solve/lu.hpp>

#include <type_traits>

namespace heddle {

/// Report of a Cholesky factorization. `info` is 0, or k + 1 if step k (counted from 0) is the first whose pivot is not
/// a positive number, as LAPACK's info: A is then not positive definite, and columns k and up of the factor have no
/// meaning. `gflops` counts n^3 / 6 multiply-adds.
using CholeskyReport = FactorizationReport;

/// Cholesky factorization A = L L^H of n x n Hermitian positive definite matrices of one order over all ranks of a
/// communicator, with its workspace.
///
/// Algorithm: LuPlan's without interchanges. Blocks of columns are dealt out to the ranks in turn; the rank that owns a
/// panel factors it and sends it to all others, and each rank subtracts L times rows of L from its columns, from the
/// diagonal block down.
///
/// Bits: with Arithmetic::emulated *reproducible*: the same factor for any number of ranks, any placement, any number
/// of threads, on CPUs and GPUs. Elements of a panel are chains of fused multiply-adds in the order of the columns; a
/// pivot is the correctly rounded root of the chain's real part, and elements below it are correctly rounded quotients
/// by it. Products with more columns than a panel are EmulatedGemm's with look = false; each is rounded once, and its
/// subtraction once more. With Arithmetic::native *rank-invariant*: for a given backend and number of threads per rank,
/// the same for any number of ranks and any placement.
///
/// Error: A + E = L L^H with |E| <= c n u |L| |L^H| and a small c (N. Higham, Accuracy and Stability, 2002, theorem
/// 10.3); each emulated product contributes at most emulation_error() |l_i|_2 |l_j|_2, where |l_i|_2 |l_j|_2 is at most
/// the square root of a_ii a_jj.
///
/// Cost: n^3 / 3 flops (4/3 n^3 complex), some 6 % more above the diagonal in diagonal blocks, and n^2 / 2 elements
/// received by every rank. Memory, and slabs of matrices in host memory: as LuPlan. Blocks. Collective.
template <Scalar T> class CholeskyPlan {
 public:
  /// Throws as LuPlan's constructor.
  CholeskyPlan(const Communicator& comm, Index order, const FactorOptions& options = {},
               Residence residence = Residence::device);
  ~CholeskyPlan();
  CholeskyPlan(CholeskyPlan&&) noexcept;
  CholeskyPlan& operator=(CholeskyPlan&&) noexcept;

  /// Blocks of columns, dealt out over the ranks. A matrix in this placement is not redistributed.
  [[nodiscard]] const Placement& placement() const;
  /// Replaces A by L, with zeros above the diagonal. Only the lower triangle of A is read, and only the real part of
  /// its diagonal. A may have any placement; throws Error(argument), on every rank alike, if A's shape is not the
  /// plan's.
  CholeskyReport execute(const DistributedMatrix<T>& A);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Calls CholeskyPlan::execute() once.
template <Scalar T>
CholeskyReport cholesky(const Communicator& comm, const DistributedMatrix<T>& A, const FactorOptions& options = {});

/// cholesky() of one rank's matrix, without a communicator. Bits: those of cholesky() over ranks. Throws
/// Error(argument) for strides that are not those of a column-major matrix.
template <Scalar T>
CholeskyReport cholesky(const ExecutionSpace& space, const MatrixView<T>& A, const FactorOptions& options = {});
/// The same for Views of other layouts, whose columns have stride one.
template <Scalar T, class... Properties>
CholeskyReport cholesky(const ExecutionSpace& space, const Kokkos::View<T**, Properties...>& A,
                        const FactorOptions& options = {}) {
  return cholesky<T>(space, MatrixView<T>(A), options);
}

/// Computes X = A^-1 X from the factor of A that cholesky() left in L. Bits and cost: those of two trsm(). Throws
/// Error(argument), on every rank alike, for shapes that don't fit.
template <Scalar T>
void cholesky_solve(const Communicator& comm, const DistributedMatrix<T>& L, const DistributedMatrix<T>& X,
                    const FactorOptions& options = {});

/// cholesky_solve() of one rank's matrices, column-major, without a communicator.
template <Scalar T>
void cholesky_solve(const ExecutionSpace& space, const MatrixView<const std::type_identity_t<T>>& L,
                    const MatrixView<T>& X, const FactorOptions& options = {});
/// The same for Views of other layouts, whose columns have stride one.
template <Scalar T, class... Properties>
void cholesky_solve(const ExecutionSpace& space, const MatrixView<const std::type_identity_t<T>>& L,
                    const Kokkos::View<T**, Properties...>& X, const FactorOptions& options = {}) {
  cholesky_solve<T>(space, L, MatrixView<T>(X), options);
}

}  // namespace heddle
