// The eigenproblem of `heddle eig`: on one rank, or over all of them.
#pragma once

#include "drivers/eig/matrices.hpp"

#include <optional>
#include <vector>

namespace heddle::driver {

template <Scalar T> struct EigenSolution {
  eigen::JacobiReport report;
  std::vector<Real<T>> values;  ///< The same on every rank, ascending.
  HostMatrix<T> vectors;        ///< On rank 0, and only if they are wanted.
  double seconds = 0;           ///< Of the solver.
  /// The same on every rank; empty without vectors.
  std::optional<EigenErrors> errors;
};

/// Solve for the Hermitian n x n matrix A of rank 0 by eigen::jacobi(): the version of one rank, or the one over all
/// ranks of `comm` if there are several. Collective. Throws Error(argument), on every rank alike, for options that the
/// latter lacks.
template <Scalar T>
[[nodiscard]] EigenSolution<T> eigen_solution(const Communicator& comm, Index n, const HostMatrix<T>& A,
                                              const eigen::JacobiOptions& options, bool values_only);

/// Throws Error(argument) for options that the solver over ranks lacks, in the words of the command line.
void require_over_ranks(int ranks, const eigen::JacobiOptions& options);

}  // namespace heddle::driver
