// Matrices in a program's own memory, to the device and back, by way of pinned memory and several threads.
#pragma once

#include "comm/vendor/vendor.hpp"
#include <heddle/comm/event.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace heddle::impl::interpose {

/// Columns of `width` bytes: `leading` bytes apart on the host, one after the other on the device.
struct HostColumns {
  std::byte* host;
  std::byte* device;
  std::size_t width;
  std::size_t columns;
  std::size_t leading;
};

/// Threads, each with some pinned memory and a stream: what one packs or unpacks there, the device copies while others
/// pack theirs, since one thread alone is slower than the link. Pinning the program's pages instead costs more than a
/// product or two bring back. Memory that the program has pinned is copied in place.
class HostCopies {
 public:
  struct Transfer;
  using Ticket = std::shared_ptr<Transfer>;

  /// `piece` bytes at once.
  explicit HostCopies(int threads, std::size_t piece = std::size_t{8} << 20);
  ~HostCopies();
  HostCopies(const HostCopies&) = delete;
  HostCopies& operator=(const HostCopies&) = delete;

  /// Begins a copy, after those begun before; the device's memory is free to be written.
  [[nodiscard]] Ticket to_device(const HostColumns& columns);
  /// The same back, of what is there when `after` has come.
  [[nodiscard]] Ticket to_host(const HostColumns& columns, const Event& after);
  /// Waits until all is copied; throws what went wrong. Nothing to wait for: null.
  void wait(const Ticket& ticket);

 private:
  struct Lane;
  Ticket begin(const HostColumns& columns, bool to_device, const Event& after);
  void work(Lane& lane);
  void copy(const Transfer& transfer, std::size_t number, Lane& lane) const;

  std::size_t piece_;
  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable done_;
  std::deque<Ticket> queue_;
  bool ending_ = false;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::thread> threads_;
};

}  // namespace heddle::impl::interpose
