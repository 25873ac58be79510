// How a result of expm comes together and reaches its caller with few passes over memory.
#pragma once

#include "expm/arithmetic/complex_arithmetic.hpp"

#include <array>

namespace heddle::impl {

/// identity I + a sum of terms, added in the order in which they come. Terms wait for a second one, so that the sum is
/// read and written half as often.
template <RealScalar T> class SeriesSum {
 public:
  /// `target`: where the sum is to be, in row bands; empty: taken from `arithmetic`'s workspace.
  SeriesSum(ComplexArithmetic<T>& arithmetic, WorkMatrix<T> target, T identity)
      : arithmetic_(&arithmetic), target_(std::move(target)), identity_(identity) {}

  /// Keeps the term until it is added; nobody may write it so long. An empty one is zero.
  void add(const SharedMatrix<T>& term);
  /// The sum; empty where nothing was added to a zero identity.
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

/// Brings results to where the caller wants them, and finds those that are not finite.
template <RealScalar T> class Delivery {
 public:
  explicit Delivery(const Communicator& comm);

  /// Forgets earlier findings.
  void begin();
  /// to = part, which is zero where it is empty; a part that is there already is only looked at. Redistribution blocks,
  /// the rest does not.
  void hand_out(const SharedMatrix<T>& part, const DistributedMatrix<T>& to);
  /// Whether all that was handed out since begin() is finite, on all ranks. Collective, blocks.
  [[nodiscard]] bool finite();

 private:
  Communicator comm_;
  Kokkos::View<int, MemorySpace> bad_;
  Kokkos::View<int, Kokkos::SharedHostPinnedSpace> host_bad_;
};

}  // namespace heddle::impl
