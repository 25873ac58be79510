// Columns of a matrix in host memory on their way to the devices and back.
#pragma once

#include "comm/vendor/queue.hpp"
#include "solve/grid/slabs.hpp"
#include <heddle/comm/transport.hpp>

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace heddle::impl {

/// Holds one slab of this rank's columns at a time in device memory; copies run beside the work of the communicator's
/// instance.
template <Scalar T> class SlabMemory {
 public:
  /// For slabs of up to `elements` elements on this rank.
  SlabMemory(const ExecutionSpace& space, Index elements);

  /// Return a copy of `host` with contiguous columns, made after the work given to the instance so far, and ordered on
  /// it; valid until the next call.
  [[nodiscard]] MatrixView<T> bring(const MatrixView<T>& host);
  /// Copies `device`, a part of the slab, to `host` after the work given to the instance so far.
  void put_back(const MatrixView<T>& device, const MatrixView<T>& host);
  /// Blocks until all copies are done.
  void finish() const { queue_->event().wait(); }
  [[nodiscard]] CopyQueue& queue() const { return *queue_; }

 private:
  ExecutionSpace space_;
  std::unique_ptr<CopyQueue> queue_;
  Kokkos::View<T*, MemorySpace> memory_;
};

/// Sends factored panels from the host memory of their ranks to the devices of all ranks, in two batches of columns:
/// one arrives while the other is used.
template <Scalar T> class PanelStream {
 public:
  /// `columns`: distribution of columns; a batch has up to rows x width elements; `wanted_by`: ranks that want panels.
  PanelStream(const Communicator& comm, CopyQueue& queue, const CyclicAxis& columns, Index rows, Index width,
              std::vector<bool> wanted_by);

  /// Number of elements that it allocates.
  [[nodiscard]] static double elements(Index rows, Index width) {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(width);
  }
  /// Sends rows `rows` of columns `columns` of the matrix of which this rank has `local`, once the copies given to the
  /// queue so far are done. Overwrites the batch before the last one. Collective.
  void begin(const MatrixView<T>& local, Range rows, Range columns);
  /// The first batch begun by begin() that next() has not returned yet, ordered on the communicator's instance; 0 x 0
  /// if this rank does not want it. Blocks until it is on its way into this rank's memory.
  [[nodiscard]] MatrixView<T> next();
  /// Lets messages under way make progress. Does not block.
  void progress() const {
    if (transport_) transport_->progress();
  }
  /// Blocks until all messages of this rank are sent.
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
