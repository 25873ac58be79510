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

/// Cholesky factorization A = L L^H of n x n Hermitian positive definite matrices of one order over all ranks, with its
/// workspace. Shapes, errors, matrices in host memory, blocking and memory are as LuPlan's; an A that is not positive
/// definite shows in CholeskyReport::info.
/// - Accuracy: A + E = L L^H with |E| <= c n u |L| |L^H| and a small c (N. Higham, Accuracy and Stability, 2002,
///   theorem 10.3), and at most emulation_error() sqrt(a_ii a_jj) for each emulated product.
/// - Bits: with Arithmetic::emulated *reproducible*: the same factor for any number of ranks and threads, any
///   placement, on CPUs and GPUs. With Arithmetic::native *rank-invariant* for a given backend, threads per rank and
///   grid_rows.
/// - Cost: n^3 / 3 flops (complex: 4/3 n^3) and some 6 % more; every rank receives n^2 / 2 elements.
/// - Source: as LuPlan, without interchanges; docs/notes/solve.md, sections "The algorithm" and "Cholesky".
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
