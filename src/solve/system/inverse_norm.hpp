// Norms of matrices and of inverses of factored ones, scaled by diagonal powers of two, also beyond the range.
#pragma once

#include "solve/system/residuals.hpp"
#include "solve/system/system.hpp"
#include <heddle/solve/solve.hpp>

#include <optional>
#include <vector>

namespace heddle::impl {

/// |D M E|_1 for D = diag(2^rows) and E = diag(2^columns). A NaN or infinity if M holds one. The same on every rank.
/// Collective. Cost: two passes over M.
template <Scalar T>
[[nodiscard]] Size one_norm(const PlacedMatrix<T>& M, const std::vector<Index>& rows,
                            const std::vector<Index>& columns);

/// |D F^-1 E|_1 from below, D and E as above, of a factored matrix F: with up to 32 columns from its inverse, otherwise
/// by exact::impl::estimate_norm(), mostly by four or five systems with F and its conjugate transpose. Vectors are
/// multiplied by a power of two if solutions overflow, so that the norm may be as large as the square of T's largest
/// number.
template <Scalar T> class InverseNorm {
 public:
  /// `factors`: by lu() with `pivots`, or, if that is null, by cholesky().
  InverseNorm(const PlacedMatrix<T>& factors, const std::vector<Index>* pivots, const FactorOptions& options);
  /// Infinite if the norm exceeds that; a NaN if the factors hold one. The same on every rank. Collective.
  [[nodiscard]] Size operator()(const std::vector<Index>& rows, const std::vector<Index>& columns);

  /// The column of F^-1 that had the largest norm in the last call.
  [[nodiscard]] Index largest_column() const { return largest_; }

  /// Bytes that it takes on the rank that needs most.
  [[nodiscard]] static double memory(const LuSchedule& schedule, const CyclicAxis& columns, bool by_lu,
                                     Arithmetic arithmetic, Residence residence);

 private:
  // The solution x 2^power.
  struct Solution {
    std::vector<T> x;
    Index power = 0;
  };
  [[nodiscard]] Index order() const { return factors_.rows(); }
  void solve(Operation op);
  template <class Fill> Solution solved(Operation op, const Fill& fill);
  Solution solved(Operation op, const std::vector<T>& b, const std::vector<Index>& powers);
  [[nodiscard]] Size of_inverse(const std::vector<Index>& rows, const std::vector<Index>& columns);
  [[nodiscard]] Size estimate(const std::vector<Index>& rows, const std::vector<Index>& columns);
  [[nodiscard]] Size of_nothing() const;

  PlacedMatrix<T> factors_;
  const std::vector<Index>* pivots_;
  FactoredSystem<T> system_;
  PlacedMatrix<T> right_;
  std::optional<Solution> inverse_;
  Index largest_ = 0;
};

/// Return the relative error of a solution at worst, as far as the factors F of A can tell: |F^-1 (b - A x)|_1 / |x|_1
/// for x = F^-1 b and the column b of the identity that makes |x|_1 largest. It is about one if A is singular up to
/// roundings, and far below n u times the condition for most other matrices. `pivots` as above. Collective. Cost: that
/// of InverseNorm, two systems and an exact product with A.
template <Scalar T>
[[nodiscard]] double worst_correction(const PlacedMatrix<T>& A, const PlacedMatrix<T>& factors,
                                      const std::vector<Index>* pivots, const FactorOptions& options);

}  // namespace heddle::impl
