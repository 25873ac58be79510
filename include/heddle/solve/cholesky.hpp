// Cholesky factorization over all ranks, natively or with the same bits everywhere, and the solution of systems with
// it.
#pragma once

#include <heddle/solve/lu.hpp>

#include <type_traits>

namespace heddle {

/// How a Cholesky factorization is computed: the choices are those of an LU factorization.
using CholeskyOptions = LuOptions;

/// What a Cholesky factorization found besides the factor. `info` is 0, or k + 1 where step k (counted from 0) is the
/// first whose pivot is not a positive number, as the info of LAPACK: A is then not positive definite, and columns of
/// the factor from k on have no meaning. `gflops` counts n^3 / 6 multiply-adds.
using CholeskyReport = FactorizationReport;

/// The factorization A = L L^H of n x n Hermitian positive definite matrices of one order over all ranks of a
/// communicator, with its workspace.
///
/// Algorithm: as LuPlan's, without interchanges: blocks of columns are dealt out to the ranks in turn, the rank that
/// has a panel factors it and sends it to all others, and each rank takes L times rows of L off its columns, from the
/// diagonal's block down.
///
/// Bits: with Arithmetic::emulated *reproducible*: the same factor for any number of ranks, any placement, any number
/// of threads, on CPUs and GPUs. Elements of a panel are chains of fused multiply-adds in the order of the columns; a
/// pivot is the correctly rounded root of the chain's real part, and elements below it are correctly rounded quotients
/// by it. Products of more columns than a panel has are those of EmulatedGemm without a look, each rounded once before
/// it is taken off, and once then. With Arithmetic::native *rank-invariant*: at a given backend and number of threads a
/// rank, the same for any number of ranks and any placement.
///
/// Error: A + E = L L^H with |E| <= c n u |L| |L^H| and a small c (N. Higham, Accuracy and Stability, 2002, theorem
/// 10.3); of emulated products the share of each is bounded by rows, emulation_error() |l_i|_2 |l_j|_2, which here is
/// no more than the square root of a_ii a_jj.
///
/// Cost: n^3 / 3 flops (4/3 n^3 complex), some 6 % more above the diagonal of blocks, and n^2 / 2 elements that every
/// rank receives. Memory as LuPlan's, and so are slabs of matrices in host memory. Blocks. Collective.
template <Scalar T> class CholeskyPlan {
 public:
  /// Throws as LuPlan's.
  CholeskyPlan(const Communicator& comm, Index order, const CholeskyOptions& options = {},
               Residence residence = Residence::device);
  ~CholeskyPlan();
  CholeskyPlan(CholeskyPlan&&) noexcept;
  CholeskyPlan& operator=(CholeskyPlan&&) noexcept;

  /// Blocks of columns, dealt out over the ranks: with A here, nothing is redistributed.
  [[nodiscard]] const Placement& placement() const;
  /// Replaces A by L, with zeros above the diagonal. Of A the lower triangle is read, and the real part of the
  /// diagonal. A may have any placement; throws Error(argument), on every rank alike, for another shape than the
  /// plan's.
  CholeskyReport execute(const DistributedMatrix<T>& A);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// CholeskyPlan::execute() once.
template <Scalar T>
CholeskyReport cholesky(const Communicator& comm, const DistributedMatrix<T>& A, const CholeskyOptions& options = {});

/// The same of one rank's matrix, without a communicator. Bits: those of cholesky() over ranks. Throws Error(argument)
/// for strides that are not those of a column-major matrix.
template <Scalar T>
CholeskyReport cholesky(const ExecutionSpace& space, const MatrixView<T>& A, const CholeskyOptions& options = {});

/// X = A^-1 X from the factor of A that cholesky() left in L. Bits and cost: those of two trsm(). Throws
/// Error(argument), on every rank alike, for shapes that don't fit.
template <Scalar T>
void cholesky_solve(const Communicator& comm, const DistributedMatrix<T>& L, const DistributedMatrix<T>& X,
                    const CholeskyOptions& options = {});

/// The same of one rank's matrices, column-major, without a communicator.
template <Scalar T>
void cholesky_solve(const ExecutionSpace& space, const MatrixView<const std::type_identity_t<T>>& L,
                    const MatrixView<T>& X, const CholeskyOptions& options = {});

}  // namespace heddle
