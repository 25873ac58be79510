// Kernels that go before those of other instances.
#pragma once

#include "comm/vendor/vendor.hpp"
#include "core/on_host.hpp"

#include <memory>

namespace heddle::impl {

/// An execution space instance whose kernels a GPU starts before those that wait on other instances. On CPUs, where one
/// kernel follows the other, the instance that it is made beside.
class UrgentInstance {
 public:
  explicit UrgentInstance(const ExecutionSpace& beside)
      : stream_(on_host ? nullptr : vendor::create_stream(true),
                [](vendor::Stream stream) {
                  if (stream != nullptr) vendor::destroy_stream(stream);
                }),
        space_(on_host ? beside : vendor::instance_on(stream_.get())) {}

  [[nodiscard]] const ExecutionSpace& space() const { return space_; }

 private:
  std::shared_ptr<void> stream_;  // Outlives the instance.
  ExecutionSpace space_;
};

}  // namespace heddle::impl
