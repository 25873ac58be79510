// The Hermitian matrices of `heddle eig` and `heddle study jacobi`: generated, or read and looked at.
#pragma once

#include "drivers/support/context.hpp"
#include <heddle/core/scalar.hpp>
#include <heddle/dist/matrix.hpp>
#include <heddle/eigen/jacobi.hpp>
#include <heddle/models/kohn_sham.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heddle::driver {

/// Atoms of charge 1 in a row about 0.
struct Chain {
  int points = 256;
  int atoms = 4;
  double spacing = 2;  ///< Bohr, between neighbours.
  int electrons = 0;   ///< 0: one for each atom.
};
[[nodiscard]] eigen::KohnShamOptions model_options(const Chain& chain);

/// The library's eigensolver in the form that eigen::self_consistent() calls, with the rotations and seconds of the
/// last call.
class JacobiSolver {
 public:
  /// One rank. `warm`: from the second call on, each begins at the vectors of the previous one.
  JacobiSolver(const ExecutionSpace& space, const eigen::JacobiOptions& options, bool warm)
      : space_(space), options_(options) {
    options_.warm_start = warm;
  }
  /// All ranks of `comm`, which outlives it. Several ranks have no warm starts. Calls are collective; H is rank 0's,
  /// and all ranks get the same results.
  JacobiSolver(const Communicator& comm, const eigen::JacobiOptions& options, bool warm)
      : JacobiSolver(comm.space(), options, warm && comm.size() == 1) {
    if (comm.size() > 1) comm_ = &comm;
  }

  /// Throws Error(computation) unless it converges.
  void operator()(std::span<const double> H, std::vector<double>& w, std::vector<double>& V);

  [[nodiscard]] const eigen::JacobiReport& report() const { return report_; }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  void solve_here(std::span<const double> H, std::vector<double>& w, std::vector<double>& V);
  void solve_over_ranks(std::span<const double> H, std::vector<double>& w, std::vector<double>& V);

  ExecutionSpace space_;
  const Communicator* comm_ = nullptr;  // Of several ranks.
  eigen::JacobiOptions options_;
  std::optional<eigen::JacobiPlan<double>> plan_;  // From the first call on.
  eigen::JacobiReport report_;
  double seconds_ = 0;
};

/// Why an eigensolver gave up: "not converged after 1 sweep, ...; what to do".
[[nodiscard]] std::string unconverged(const eigen::JacobiReport& report);
/// Why an iteration ended, in words.
[[nodiscard]] const char* reason_of(eigen::JacobiEnd end);

/// a_ij = n/2 - |i - j|, n/2 an integer: the matrix that J. A. Ayala Barbosa timed (tesina, UNAM, 2018).
template <Scalar T> [[nodiscard]] HostMatrix<T> thesis_matrix(Index n);
/// Seeded, elements uniform in (-1, 1), those of the diagonal real.
template <Scalar T> [[nodiscard]] HostMatrix<T> random_hermitian(Index n, std::uint64_t seed);
/// Column-major numbers as a matrix.
template <Scalar T> [[nodiscard]] HostMatrix<T> matrix_from(std::span<const double> elements, Index n);

/// Throws Error(input) "NAME: ..." unless A is square, finite, and Hermitian but for `tolerance` times its largest
/// element; the message has the worst place and both elements.
template <Scalar T> void require_hermitian(const std::string& name, const HostMatrix<T>& A, double tolerance);
/// Make A Hermitian to the bit from its lower (or upper) triangle.
template <Scalar T> void mirror(const HostMatrix<T>& A, bool upper);

/// Copy the elements to memory that kernels reach.
template <Scalar T> [[nodiscard]] LocalMatrix<T> on_device(const HostMatrix<T>& A);

/// The most that a number times 2^-exponent changes by being stored as a denormal number of type R.
template <RealScalar R> [[nodiscard]] double storage_error(int exponent) {
  return std::ldexp(static_cast<double>(std::numeric_limits<R>::denorm_min()), -exponent) / 2;
}
/// Return the part of an error that exceeds the storage error; NaN stays NaN.
[[nodiscard]] inline double beyond_storage(double error, double storage) {
  return error <= storage ? 0 : error - storage;
}
/// A 2^-exponent, whose largest element is near 1: products with it neither overflow nor round to denormal numbers.
template <Scalar T> struct Levelled {
  LocalMatrix<T> matrix;
  int exponent = 0;
};
template <Scalar T> [[nodiscard]] Levelled<T> levelled(const ExecutionSpace& space, const LocalMatrix<T>& A);

/// In units of what the library allows: |A V - V diag(w)|_F / (n u |A|_F), less sqrt(n) storage_error() of w, and |V^H
/// V
/// - I|_F / (n u sqrt(n)).
struct EigenErrors {
  double residual = 0;
  double orthogonality = 0;
};
template <Scalar T>
[[nodiscard]] EigenErrors errors_of(const ExecutionSpace& space, const LocalMatrix<T>& A,
                                    const Kokkos::View<Real<T>*, MemorySpace>& w, const LocalMatrix<T>& V);
/// The same over the ranks of A; w is the same on each. Collective.
template <Scalar T>
[[nodiscard]] EigenErrors errors_of(const DistributedMatrix<T>& A, const Kokkos::View<Real<T>*, MemorySpace>& w,
                                    const DistributedMatrix<T>& V);

}  // namespace heddle::driver
