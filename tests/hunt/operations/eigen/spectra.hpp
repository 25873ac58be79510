// Reference eigenvalues and singular values by many digits, and checks of computed values and vectors.
#pragma once

#include "hunt/long_matrix.hpp"
#include "hunt/operation.hpp"
#include "hunt/wide.hpp"

#include <optional>
#include <vector>

namespace heddle::hunt {

[[nodiscard]] LongMatrix adjoint(const LongMatrix& X);
/// Return X diag(d).
[[nodiscard]] LongMatrix times_diagonal(LongMatrix X, const std::vector<double>& d);
/// Return C - X Y.
[[nodiscard]] LongMatrix less_product(LongMatrix C, const LongMatrix& X, const LongMatrix& Y);
/// Return a lower bound of |X|_2: if it exceeds a bound, so does |X|_2.
[[nodiscard]] double least_norm2(const LongMatrix& X);
/// Return least_norm2(V^H V - I).
[[nodiscard]] double departure(const LongMatrix& V);

/// The eigenvalues of a Hermitian matrix, and their condition.
struct EigenTruth {
  /// Ascending; nothing if more than 16 rows are connected, since many digits would take too long.
  std::optional<std::vector<Wide>> values;
  double norm = 0;  ///< |A|_2, if the values are known
  /// Condition number of D^-1 A D^-1, D^2 = diag(A); 0 unless A is positive definite by a margin.
  double condition = 0;
};
[[nodiscard]] EigenTruth eigen_truth(const Array& A);

template <Scalar T> struct FoundEigen {
  std::vector<double> w;
  HostMatrix<T> V;
};

/// Check |w_i - lambda_i| <= 10 n u |A|_2, with relative accuracy 10 n u kappa(D^-1 A D^-1) lambda_i if lambda_i is a
/// normal number; |A V - V diag(w)|_2 <= 10 n u |A|_2, |V^H V - I|_2 <= 10 n u, with lower bounds of those norms.
template <Scalar T>
void judge_eigen(Verdict& verdict, const Array& A, const EigenTruth& truth, const FoundEigen<T>& found, bool relative,
                 bool vectors) {
  const double nu = static_cast<double>(std::max<Index>(A.rows, 1)) * static_cast<double>(unit_roundoff<T>);
  const double normal = static_cast<double>(std::numeric_limits<Real<T>>::min());
  const double smallest = static_cast<double>(std::numeric_limits<Real<T>>::denorm_min());
  const double most = static_cast<double>(std::numeric_limits<Real<T>>::max());
  // If the residual is small beside the largest w and V is orthonormal, the largest |w| is |A|_2.
  double norm = truth.norm;
  if (!truth.values) {
    for (const double w : found.w) norm = std::max(norm, std::abs(w));
  }
  for (std::size_t i = 0; i < found.w.size(); ++i) {
    const std::string text = "eigenvalue " + std::to_string(i) + " found " + shown(found.w[i]);
    if (i > 0) verdict.holds("ascending", found.w[i - 1] <= found.w[i], text);
    if (!truth.values) continue;
    const Wide& expected = (*truth.values)[i];
    const double value = expected.to_double();
    const double error = (Wide(found.w[i]) - expected).absolute().to_double();
    const std::string both = text + ", expected " + shown(value);
    if (norm < most / 2) verdict.within("eigenvalues, by the norm", error, 10 * nu * norm + 4 * smallest, both);
    if (relative && truth.condition > 0 && truth.condition * nu < 1e-3 && value > normal && value < most) {
      verdict.within("eigenvalues, relative", error, 10 * nu * truth.condition * value, both);
    }
  }
  if (!vectors || !(norm < most / 2)) return;
  const LongMatrix V(found.V);
  const LongMatrix residual = less_product(times_diagonal(V, found.w), LongMatrix(A), V);
  verdict.within("residual", least_norm2(residual), 10 * nu * norm + 4 * smallest);
  verdict.within("orthogonality", departure(V), 10 * nu);
}

/// The singular values of a matrix, and their condition.
struct SingularTruth {
  std::optional<std::vector<Wide>> values;  ///< Descending; nothing if rows and columns are more than 16.
  double norm = 0;                          ///< |A|_2, if the values are known
  /// Condition number of A D^-1 (D^-1 A if rows are fewer than columns), whose columns (rows) have lengths near 1; 0 if
  /// one is zero.
  double condition = 0;
};
[[nodiscard]] SingularTruth singular_truth(const Array& A);

}  // namespace heddle::hunt
