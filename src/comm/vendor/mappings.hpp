// Device memory of other processes, open in this one.
#pragma once

#include "comm/vendor/vendor.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace heddle::impl {

/// Another process's allocation; closed with the last copy.
class Mapping {
 public:
  /// Throws Error(computation) where it can't be opened.
  explicit Mapping(const vendor::Export& allocation);
  ~Mapping() { vendor::close_allocation(address_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] std::byte* address() const { return address_; }
  [[nodiscard]] const vendor::Export& allocation() const { return allocation_; }
  [[nodiscard]] bool is(const vendor::Export& other) const { return same(allocation_, other); }
  [[nodiscard]] static bool same(const vendor::Export& one, const vendor::Export& other);
  /// Whether it overlaps `other`, a later allocation: its owner has freed the memory.
  [[nodiscard]] bool is_in_place_of(const vendor::Export& other) const;

 private:
  vendor::Export allocation_;
  std::byte* address_;
};

/// The mappings of the latest operations, kept open, since opening one costs as much as pulling megabytes. One table
/// for all transports of the process, as the runtime has one address space for them. Memory that its owner frees is
/// only released once its mapping is closed: when something else is in its place, or after a few operations that have
/// no use for it. The number of operations follows from use: an allocation that was closed and is wanted again stays
/// open for twice as long as it was missed, so that a plan that goes through its matrices in turn opens each twice, and
/// memory used once is soon free.
class Mappings {
 public:
  /// The process's table; it lives while someone holds it.
  static std::shared_ptr<Mappings> of_process();

  [[nodiscard]] std::shared_ptr<Mapping> open(const vendor::Export& allocation);
  /// Close all unused mappings.
  void release();
  /// Count an operation of a transport that is over.
  void end_operation();

 private:
  static constexpr std::uint64_t kept_operations = 8;
  static constexpr std::uint64_t most_kept_operations = 512;
  struct Entry {
    std::shared_ptr<Mapping> mapping;
    std::uint64_t last_use = 0;  // operations over then
    std::uint64_t kept = kept_operations;
  };
  struct Closed {
    vendor::Export allocation;
    std::uint64_t last_use;
    std::uint64_t kept;
  };
  using Place = std::pair<std::uint64_t, std::uint64_t>;  // Owner and address.

  // For how many operations without use an allocation that is opened now will stay open.
  [[nodiscard]] std::uint64_t kept_for(const Place& place, const vendor::Export& allocation) const;

  std::mutex mutex_;
  std::map<Place, Entry> entries_;
  std::map<Place, Closed> closed_;  // Closed mappings that were used in the latest operations.
  std::uint64_t operations_ = 0;
};

}  // namespace heddle::impl
