// Block columns over ranks whose rotations have the order of one rank's.
#pragma once

#include "comm/failures/checked.hpp"
#include "comm/transports/tags.hpp"
#include "eigen/dense/columns.hpp"
#include "eigen/distributed/counts.hpp"
#include "eigen/distributed/round_robin_sweep.hpp"
#include <heddle/comm/transport.hpp>

#include <optional>
#include <vector>

namespace heddle::eigen::impl {

/// This rank's blocks of the columns of an n x n matrix. A sweep does the rotations of BlockColumns::sweep() on one
/// rank, in an order that gives the same bits.
template <Scalar T> class RoundRobinColumns {
 public:
  using R = Real<T>;

  RoundRobinColumns(const Communicator& comm, Index n, int block)
      : comm_(comm),
        transport_(comm.transport()),
        width_(BlockColumns<T>::block_for(n, block)),
        shares_{blocks_for(n, width_) / 2, comm.size()},
        schedule_(shares_, comm.rank()),
        columns_(comm.space(), n, Index{width_} * schedule_.slots(), width_),
        sent_(static_cast<std::size_t>(schedule_.slots())) {
    columns_.set_portable();
  }
  ~RoundRobinColumns() = default;
  RoundRobinColumns(const RoundRobinColumns&) = delete;
  RoundRobinColumns& operator=(const RoundRobinColumns&) = delete;

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] const PairShares& shares() const { return shares_; }
  /// Blocks of this rank, and between sweeps their numbers among all and their columns; zeros beyond the last of all.
  [[nodiscard]] int blocks() const { return 2 * shares_.count(comm_.rank()); }
  [[nodiscard]] int number(int at) const { return schedule_.position(at); }
  [[nodiscard]] MatrixView<T> home(int at) const { return slot(schedule_.slot(at)); }

  /// Every pair of columns on all ranks once.
  SweepCounts<R> sweep(R tolerance) {
    const int count = shares_.count(comm_.rank());
    std::vector<int> slots;
    const std::vector<RoundRobinSweep::Step> steps = schedule_.plan(slots);
    const Values<int> pairs = on_device(comm_.space(), "heddle::eigen::pairs", slots);
    // Pairs that other ranks wait for go first if they are work for all threads.
    const int threads = comm_.space().concurrency();
    std::vector<Request> arriving;
    const int* listed = pairs.data();
    for (const RoundRobinSweep::Step& step : steps) {
      for (Request& request : arriving) {
        request.wait();
      }
      arriving.clear();
      const int first = step.leaving < threads ? count : step.leaving;
      rotate(listed, first, tolerance);
      for (const BlockMove& move : step.received) {
        Request& last = sent_[static_cast<std::size_t>(move.slot)];
        last.wait();
        arriving.push_back(transport_.template receive<T>(whole(move.slot), move.rank, tag_of(move)));
      }
      for (const BlockMove& move : step.sent) {
        sent_[static_cast<std::size_t>(move.slot)] =
            transport_.template send<T>(MatrixView<const T>(whole(move.slot)), move.rank, tag_of(move));
      }
      rotate(listed + std::ptrdiff_t{2} * first, count - first, tolerance);
      transport_.progress();
      listed += std::ptrdiff_t{2} * count;
    }
    for (Request& request : arriving) {
      request.wait();
    }
    return counts_of_all(comm_, columns_.counts());
  }

 private:
  static int tag_of(const BlockMove& move) { return heddle::impl::tag_jacobi + move.row; }
  [[nodiscard]] MatrixView<T> slot(int number) const {
    const Index begin = Index{number} * width_;
    return Kokkos::subview(MatrixView<T>(columns_.columns()), Kokkos::ALL, Kokkos::make_pair(begin, begin + width_));
  }
  // Rows of zeros travel too, so that a slot is one contiguous block.
  [[nodiscard]] MatrixView<T> whole(int number) const {
    const MatrixView<T> view = slot(number);
    return MatrixView<T>(view.data(), Kokkos::LayoutStride(view.stride(1), 1, view.extent(1), view.stride(1)));
  }
  void rotate(const int* listed, int pairs, R tolerance) {
    if (pairs > 0) {
      BlockPairs order{pairs, 0};
      order.listed = listed;
      columns_.step(order, tolerance);
    }
  }

  const Communicator& comm_;
  Transport transport_;
  int width_;
  PairShares shares_;
  RoundRobinSweep schedule_;
  BlockColumns<T> columns_;
  heddle::impl::KeptWhereFailed kept_{columns_.columns()};
  std::vector<Request> sent_;
};

}  // namespace heddle::eigen::impl
