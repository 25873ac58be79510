// Inner products, products and systems of a chosen condition, in double, with their exact results.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/exact/accumulator.hpp>

#include <cstdint>
#include <vector>

namespace heddle::driver {

/// Size, condition and seed of a problem.
struct HardProblem {
  Index size = 100;  ///< Length of vectors, order of matrices: at least 6.
  double condition = 1e10;
  std::uint64_t seed = 1;
};

struct HardDot {
  std::vector<double> x, y;
};
/// x and y of n elements whose inner product cancels, after T. Ogita, S. Rump and S. Oishi, "Accurate sum and dot
/// product" (2005), algorithm 6.1.
[[nodiscard]] HardDot hard_dot(const HardProblem& problem);

struct HardProduct {
  HostMatrix<double> A;
  std::vector<double> x;
};
/// Return a square matrix; each of its rows is as y of hard_dot() for the same x.
[[nodiscard]] HardProduct hard_product(const HardProblem& problem);

/// The elements of the solution of a lower triangular system. Each is a sum of as many doubles as give it twice the
/// digits of a double plus those of `condition`. Cost: n^2 / 2 products for each of these doubles.
class TriangularSolution {
 public:
  TriangularSolution(const HostMatrix<double>& A, double condition);

  /// Compute the next element; b is the right-hand side's.
  void solve_row(const HostMatrix<double>& A, double b);
  /// Add A(i, j) x_j to a sum.
  void add_product(exact::Accumulator<double>& sum, double factor, std::size_t j) const;
  /// x_i, nearly rounded once.
  [[nodiscard]] double value(std::size_t i) const { return elements_[i].empty() ? 0.0 : elements_[i].front(); }
  /// |x - x_i|, rounded.
  [[nodiscard]] double error(double x, std::size_t i) const;

 private:
  std::size_t parts_;
  std::vector<std::vector<double>> elements_;
};

/// A lower triangular system A x = b.
struct HardSystem {
  HostMatrix<double> A;
  std::vector<double> b;
  TriangularSolution x;
  /// max_i (|A^-1| |A| |x|)_i / max_i |x_i| by the diagonals of A^-1 alone, so that it is at most Skeel's condition.
  double condition = 1.0;
};
/// Return a triangular system whose x has elements of moderate size, while the sums in the second half of its rows
/// cancel, as those of hard_dot() do with the first half of x.
[[nodiscard]] HardSystem hard_system(const HardProblem& problem);

struct HardMatrix {
  HostMatrix<double> A;
  double condition = 1.0;  ///< An estimate of |A| |A^-1| in the largest row sum.
};
/// A triangular matrix whose inverse grows from row to row, with its rows and columns in disorder.
[[nodiscard]] HardMatrix hard_matrix(const ExecutionSpace& space, const HardProblem& problem);

/// Copies in the device's memory.
[[nodiscard]] Kokkos::View<double*, MemorySpace> on_device(const std::vector<double>& values);
[[nodiscard]] LocalMatrix<double> on_device(const HostMatrix<double>& A);

/// The condition of an inner product, (|x_1 y_1| + ... + |x_n y_n|) / |x_1 y_1 + ... + x_n y_n|.
[[nodiscard]] double condition_of(const Communicator& comm, const std::vector<double>& x, const std::vector<double>& y);

}  // namespace heddle::driver
