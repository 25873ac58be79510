// Copies of columns in host memory to the devices and back, and streams of panels.
#include "solve/grid/host_columns.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace heddle::impl {
namespace {

constexpr int batch_tag = 17;

}  // namespace

template <Scalar T>
SlabMemory<T>::SlabMemory(const ExecutionSpace& space, Index elements)
    : space_(space),
      queue_(std::make_unique<CopyQueue>()),
      memory_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::slab"),
              static_cast<std::size_t>(elements)) {}

template <Scalar T> MatrixView<T> SlabMemory<T>::bring(const MatrixView<T>& host) {
  const auto rows = static_cast<Index>(host.extent(0));
  const MatrixView<T> device =
      matrix_view(memory_.data(), rows, static_cast<Index>(host.extent(1)), std::max<Index>(rows, 1));
  const Event free = Event::on(space_);
  queue_->after(std::span(&free, 1));
  queue_->copy(block_of_bytes(device), block_of_bytes(host));
  queue_->event().before(space_);
  return device;
}

template <Scalar T> void SlabMemory<T>::put_back(const MatrixView<T>& device, const MatrixView<T>& host) {
  const Event done = Event::on(space_);
  queue_->after(std::span(&done, 1));
  queue_->copy(block_of_bytes(host), block_of_bytes(device));
}

template <Scalar T>
PanelStream<T>::PanelStream(const Communicator& comm, CopyQueue& queue, const CyclicAxis& columns, Index rows,
                            Index width, std::vector<bool> wanted_by)
    : comm_(comm), queue_(queue), columns_(columns), wanted_by_(std::move(wanted_by)) {
  if (comm.size() > 1) transport_ = transport_of(comm);
  for (Batch& batch : batches_) {
    batch.memory = Kokkos::View<T*, MemorySpace>(
        Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::solve::batch"),
        static_cast<std::size_t>(rows * width));
  }
}

template <Scalar T>
void PanelStream<T>::begin_run(Batch& batch, const MatrixView<T>& host, const MatrixView<T>& place, int owner,
                               const Event& free) {
  if (comm_.rank() != owner) {
    if (!wanted_by_[static_cast<std::size_t>(comm_.rank())]) return;
    batch.receives.push_back(transport_->receive<T>(place, owner, batch_tag, std::span(&free, 1)));
    return;
  }
  queue_.copy(block_of_bytes(place), block_of_bytes(host));
  batch.copied = queue_.event();
  for (int other = 0; other < comm_.size(); ++other) {
    if (other == owner || !wanted_by_[static_cast<std::size_t>(other)]) continue;
    batch.sends.push_back(transport_->send<T>(MatrixView<const T>(place), other, batch_tag, batch.copied));
  }
}

template <Scalar T> void PanelStream<T>::begin(const MatrixView<T>& local, Range rows, Range columns) {
  Batch& batch = batches_[begun_++ % 2];
  for (Request& sent : batch.sends) sent.wait();
  batch.sends.clear();
  batch.view = matrix_view(batch.memory.data(), rows.size(), columns.size(), rows.size());
  const Event free = Event::on(comm_.space());
  queue_.after(std::span(&free, 1));
  for (Index begin = columns.begin; begin < columns.end;) {
    const Index end = std::min(columns.end, (begin / columns_.block + 1) * columns_.block);
    const Range mine = columns_.locals(comm_.rank(), {begin, end});
    begin_run(batch, block_of(local, rows.begin, rows.end, mine.begin, mine.end),
              block_of(batch.view, 0, rows.size(), begin - columns.begin, end - columns.begin), columns_.owner(begin),
              free);
    begin = end;
  }
}

template <Scalar T> MatrixView<T> PanelStream<T>::next() {
  Batch& batch = batches_[asked_++ % 2];
  for (Request& received : batch.receives) {
    received.wait();
    received.event().before(comm_.space());
  }
  batch.receives.clear();
  batch.copied.before(comm_.space());
  batch.copied = {};
  return wanted_by_[static_cast<std::size_t>(comm_.rank())] ? batch.view : matrix_view<T>(nullptr, 0, 0, 1);
}

template <Scalar T> void PanelStream<T>::finish() {
  for (Batch& batch : batches_) {
    for (Request& sent : batch.sends) sent.wait();
    batch.sends.clear();
  }
}

#define HEDDLE_INSTANTIATE(T)   \
  template class SlabMemory<T>; \
  template class PanelStream<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
