// Summation and delivery of a result of expm with few passes over memory.
#pragma once

#include "expm/arithmetic/complex_arithmetic.hpp"

#include <array>

namespace heddle::impl {

/// identity I + a sum of terms, in the order of add(). A term waits for a second one, so that the sum is read and
/// written half as often.
template <RealScalar T> class SeriesSum {
 public:
  /// `target`: storage of the sum, in row bands; if empty, it comes from `arithmetic`'s workspace.
  SeriesSum(ComplexArithmetic<T>& arithmetic, WorkMatrix<T> target, T identity)
      : arithmetic_(&arithmetic), target_(std::move(target)), identity_(identity) {}

  /// Keep the term until it is added; it must not be written before. An empty one is zero.
  void add(const SharedMatrix<T>& term);
  /// Return the sum; empty if nothing was added to a zero identity.
  [[nodiscard]] WorkMatrix<T> finish();

 private:
  void add_waiting();

  ComplexArithmetic<T>* arithmetic_;
  WorkMatrix<T> target_;
  T identity_;
  bool begun_ = false;
  std::array<SharedMatrix<T>, 2> waiting_;
  std::size_t count_ = 0;
};

/// Delivers results to the caller's matrices, and detects those that are not finite.
template <RealScalar T> class Delivery {
 public:
  explicit Delivery(const Communicator& comm);

  /// Discard earlier findings.
  void begin();
  /// to = part, zero if it is empty; a part that is already in place is only tested. Redistribution blocks, the rest
  /// does not.
  void hand_out(const SharedMatrix<T>& part, const DistributedMatrix<T>& to);
  /// Whether all parts handed out since begin() are finite, on all ranks. Collective, blocks.
  [[nodiscard]] bool finite();

 private:
  Communicator comm_;
  Kokkos::View<int, MemorySpace> bad_;
  Kokkos::View<int, Kokkos::SharedHostPinnedSpace> host_bad_;
};

}  // namespace heddle::impl
