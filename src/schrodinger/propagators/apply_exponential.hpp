// psi' = E psi with E in row bands.
#pragma once

#include "schrodinger/propagators/wave_function.hpp"
#include <heddle/dist/matrix.hpp>
#include <heddle/dist/split_matrix.hpp>

namespace heddle::impl {

/// Product of a complex matrix in row bands with a vector that every rank has; owns the partial sums.
///
/// A row is summed over chunks of `chunk` columns, each in rising order, then over the chunks in rising order: the same
/// bits for any number of ranks and threads.
class ApplyExponential {
 public:
  static constexpr Index chunk = 128;

  ApplyExponential(const Communicator& comm, Index points);

  /// psi = E psi; both parts of E in row_bands(points, points, comm.size()). Collective; blocks as
  /// WaveFunction::assemble().
  void operator()(const SplitMatrix<double>& E, WaveFunction& psi);

 private:
  Communicator comm_;
  LocalMatrix<double> partial_real_;  // rows of this rank x chunks
  LocalMatrix<double> partial_imaginary_;
};

}  // namespace heddle::impl
