// Copies of matrices between host and device, through pinned memory by several threads.
#include "interpose/device/copies.hpp"

#include <algorithm>
#include <cstring>

namespace heddle::impl::interpose {

// Copied in pieces of whole columns, or of parts of one.
struct HostCopies::Transfer {
  HostColumns columns{};
  bool to_device = false;
  bool pinned = false;
  Event after;
  std::size_t at_once = 1;  // Columns of a piece.
  std::size_t parts = 1;    // Pieces of a column.
  std::size_t count = 0;    // Pieces in all.
  std::size_t begun = 0;
  std::size_t done = 0;
  std::exception_ptr failure;
};

struct HostCopies::Lane {
  explicit Lane(std::size_t bytes)
      : memory(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::interpose::lane"), bytes),
        stream(vendor::create_stream()),
        event(vendor::create_event(false)) {}
  ~Lane() {
    vendor::destroy_event(event);
    vendor::destroy_stream(stream);
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace> memory;
  vendor::Stream stream;
  vendor::Event event;
};

HostCopies::HostCopies(int threads, std::size_t piece) : piece_(piece) {
  for (int number = 0; number < threads; ++number) lanes_.push_back(std::make_unique<Lane>(piece));
  for (const auto& lane : lanes_) {
    threads_.emplace_back([this, at = lane.get()] { work(*at); });
  }
}

HostCopies::~HostCopies() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

HostCopies::Ticket HostCopies::to_device(const HostColumns& columns) {
  return begin(columns, true, {});
}
HostCopies::Ticket HostCopies::to_host(const HostColumns& columns, const Event& after) {
  return begin(columns, false, after);
}

HostCopies::Ticket HostCopies::begin(const HostColumns& columns, bool to_device, const Event& after) {
  if (columns.width == 0 || columns.columns == 0) return nullptr;
  auto ticket = std::make_shared<Transfer>();
  ticket->columns = columns;
  ticket->to_device = to_device;
  ticket->after = after;
  const std::byte* const last = columns.host + (columns.columns - 1) * columns.leading + columns.width - 1;
  ticket->pinned = vendor::is_pinned_host(columns.host) && vendor::is_pinned_host(last);
  if (ticket->pinned) {
    ticket->at_once = columns.columns;
  } else if (columns.width <= piece_) {
    ticket->at_once = piece_ / columns.width;
  } else {
    ticket->parts = (columns.width + piece_ - 1) / piece_;
  }
  ticket->count = (columns.columns + ticket->at_once - 1) / ticket->at_once * ticket->parts;
  {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(ticket);
  }
  begun_.notify_all();
  return ticket;
}

void HostCopies::wait(const Ticket& ticket) {
  if (ticket == nullptr) return;
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return ticket->done == ticket->count; });
  if (ticket->failure) std::rethrow_exception(ticket->failure);
}

void HostCopies::work(Lane& lane) {
  std::unique_lock lock(mutex_);
  for (;;) {
    begun_.wait(lock, [&] { return ending_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const Ticket transfer = queue_.front();
    const std::size_t number = transfer->begun++;
    if (transfer->begun == transfer->count) queue_.pop_front();
    lock.unlock();
    std::exception_ptr failure;
    try {
      copy(*transfer, number, lane);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) transfer->failure = failure;
    if (++transfer->done == transfer->count) done_.notify_all();
  }
}

void HostCopies::copy(const Transfer& transfer, std::size_t number, Lane& lane) const {
  const HostColumns& all = transfer.columns;
  const std::size_t first = number / transfer.parts * transfer.at_once;
  const std::size_t columns = std::min(transfer.at_once, all.columns - first);
  const std::size_t skipped = number % transfer.parts * piece_;
  const std::size_t width = transfer.parts == 1 ? all.width : std::min(piece_, all.width - skipped);
  std::byte* const host = all.host + first * all.leading + skipped;
  const vendor::Block device{all.device + first * all.width + skipped, width, columns, all.width};
  const vendor::Block near = transfer.pinned ? vendor::Block{host, width, columns, all.leading}
                                             : vendor::Block{lane.memory.data(), width, columns, width};
  transfer.after.wait();
  const auto copied = [&](const vendor::Block& to, const vendor::Block& from) {
    vendor::copy(lane.stream, to, from);
    vendor::record(lane.event, lane.stream);
    vendor::wait(lane.event);
  };
  const auto each = [&](const auto& move) {
    if (transfer.pinned) return;
    for (std::size_t j = 0; j < columns; ++j) move(host + j * all.leading, near.data + j * width);
  };
  if (transfer.to_device) {
    each([&](const std::byte* given, std::byte* packed) { std::memcpy(packed, given, width); });
    copied(device, near);
  } else {
    copied(near, device);
    each([&](std::byte* wanted, const std::byte* packed) { std::memcpy(wanted, packed, width); });
  }
}

}  // namespace heddle::impl::interpose
