// Predicted cost of the exponential of a distributed matrix on a machine that is described by its shape and rates.
#pragma once

#include <heddle/expm/expm.hpp>
#include <heddle/gemm/predict.hpp>

namespace heddle {

/// A predicted exponential.
struct ExpmPrediction {
  double seconds = 0.0;              ///< Time of the slowest rank: products and the work between them.
  double between_seconds = 0.0;      ///< The part of `seconds` that is not spent in products.
  double gflops = 0.0;               ///< Rate of all ranks' products over `seconds`, in 10^9 flops per second.
  int products = 0;                  ///< Real products of n x n matrices, as ExpmReport::products.
  int degree = 0;                    ///< Degree of the polynomial.
  int squarings = 0;                 ///< Number of squarings.
  double bytes_received = 0.0;       ///< Bytes received from other ranks, summed over all ranks.
  double bytes_between_nodes = 0.0;  ///< The part of `bytes_received` that comes from other nodes.
  /// Memory of the rank that needs most, in bytes: its part of A, powers, sums and exp(A), and the buffers of a
  /// product.
  double memory_bytes = 0.0;
  double planning_seconds = 0.0;  ///< Time of the choice of polynomial, grid and tile on the calling machine.
  GemmPrediction product;         ///< Prediction for one of the products.
};

/// Predicts exp(A) of a general n x n matrix A in row bands over all ranks of the cluster, of T or, where `is_complex`,
/// of complex numbers of T. `norm` takes the place of ||A||, as ExpmReport::alpha does: ||A^k|| <= norm^k for all
/// powers that matter; for most matrices it is less than ||A||_1. Nothing is computed or moved, and MPI is not needed:
/// the polynomial is the one that ExpmPlan chooses from `norm` alone; every product takes predict_gemm()'s time from
/// `rates`, which are those of T; between products right factors go from row bands to column bands, and sums of powers
/// read memory once for each term.
///
/// The options used are method (automatic, paterson_stockmeyer or few_products), tolerance, complex_products and gemm;
/// a matrix that is Hermitian or i times one takes less. T is float or double. Throws Error(argument) as predict_gemm()
/// does, for a norm that is negative or not finite, for another method, and for options that expm() refuses.
template <RealScalar T>
[[nodiscard]] ExpmPrediction predict_expm(const ClusterShape& cluster, Index n, double norm, bool is_complex,
                                          const MachineRates& rates, const ExpmOptions& options = {});

}  // namespace heddle
