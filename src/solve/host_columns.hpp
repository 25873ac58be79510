// Columns of a matrix in host memory on their way to the devices and back.
#pragma once

#include "comm/queue.hpp"
#include "solve/slabs.hpp"
#include <heddle/comm/transport.hpp>

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace heddle::impl {

/// One slab of this rank's columns at a time in device memory, by copies beside the work of the communicator's
/// instance.
template <Scalar T> class SlabMemory {
 public:
  /// For slabs of up to so many elements on this rank.
  SlabMemory(const ExecutionSpace& space, Index elements);

  /// A copy of `host`, columns close together, once the work given to the instance so far is done, and ordered on it;
  /// there until the next call.
  [[nodiscard]] MatrixView<T> bring(const MatrixView<T>& host);
  /// What is in `device`, a part of what was brought, becomes `host` once the work given to the instance so far is
  /// done.
  void put_back(const MatrixView<T>& device, const MatrixView<T>& host);
  /// Blocks until nothing is under way.
  void finish() const { queue_->event().wait(); }
  [[nodiscard]] CopyQueue& queue() const { return *queue_; }

 private:
  ExecutionSpace space_;
  std::unique_ptr<CopyQueue> queue_;
  Kokkos::View<T*, MemorySpace> memory_;
};

/// Factored panels from the host memory of the ranks that have them to the devices of all ranks: of two batches of
/// columns one arrives while the other is used.
template <Scalar T> class PanelStream {
 public:
  /// `columns`: who has which; a batch has up to rows x width elements; `wanted_by`: which ranks want panels.
  PanelStream(const Communicator& comm, CopyQueue& queue, const CyclicAxis& columns, Index rows, Index width,
              std::vector<bool> wanted_by);

  /// Elements that it allocates.
  [[nodiscard]] static double elements(Index rows, Index width) {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(width);
  }
  /// Sends rows `rows` of columns `columns` of the matrix of which `local` is what this rank has, once the copies given
  /// to the queue so far are done. Collective. What the last but one batch left is overwritten.
  void begin(const MatrixView<T>& local, Range rows, Range columns);
  /// The batch that begin() was called for first of those that were not asked for yet, ordered on the communicator's
  /// instance; 0 x 0 where it is not wanted. Blocks until it is on its way into this rank's memory.
  [[nodiscard]] MatrixView<T> next();
  /// Lets messages under way make progress. Does not block.
  void progress() const {
    if (transport_) transport_->progress();
  }
  /// Blocks until nothing that this rank sent is under way any more.
  void finish();

 private:
  struct Batch {
    Kokkos::View<T*, MemorySpace> memory;
    MatrixView<T> view;
    std::vector<Request> sends;
    std::vector<Request> receives;
    Event copied;
  };
  void begin_run(Batch& batch, const MatrixView<T>& host, const MatrixView<T>& place, int owner, const Event& free);

  Communicator comm_;
  CopyQueue& queue_;
  CyclicAxis columns_;
  std::vector<bool> wanted_by_;
  std::optional<Transport> transport_;
  std::array<Batch, 2> batches_;
  std::size_t begun_ = 0;
  std::size_t asked_ = 0;
};

}  // namespace heddle::impl
