// Copies beside the kernels: a stream of its own, ordered by events.
#pragma once

#include "comm/vendor/vendor.hpp"
#include <heddle/comm/event.hpp>

#include <span>

namespace heddle::impl {

/// Column-major matrix as runs of bytes.
template <class T> vendor::Block block_of_bytes(const MatrixView<T>& matrix) {
  const std::size_t columns = matrix.extent(1);
  return {reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(matrix.data())),
          matrix.extent(0) * sizeof(T), columns, columns > 1 ? matrix.stride(1) * sizeof(T) : 0};
}

/// Puts one instance's work behind another's, again and again by one event of its own, so that nothing is allocated
/// when it does.
class Mark {
 public:
  Mark() : event_(vendor::create_event(false)) {}
  ~Mark() { vendor::destroy_event(event_); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

  /// Work given to `later` from here on runs after all work given to `earlier` so far. Does not block on GPUs.
  void order(const ExecutionSpace& earlier, const ExecutionSpace& later) const {
    vendor::record(event_, vendor::stream_of(earlier));
    if (event_ != nullptr) vendor::wait(vendor::stream_of(later), event_);
  }

 private:
  vendor::Event event_;
};

/// A stream on which the copy engines work, ordered with others by events alone. On the host a copy is done at once.
class CopyQueue {
 public:
  /// `urgent`: its copies go before work of other streams that has not begun.
  explicit CopyQueue(bool urgent = false);
  ~CopyQueue();
  CopyQueue(const CopyQueue&) = delete;
  CopyQueue& operator=(const CopyQueue&) = delete;

  /// Later copies wait for the events.
  void after(std::span<const Event> events);
  void copy(const vendor::Block& to, const vendor::Block& from);
  /// Event after all copies so far.
  [[nodiscard]] Event event(bool timed = false) const;
  /// Stream for the copies of a vendor's library.
  [[nodiscard]] vendor::Stream stream() const { return stream_; }

 private:
  vendor::Stream stream_;
};

}  // namespace heddle::impl
