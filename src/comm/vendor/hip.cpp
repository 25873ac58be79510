// The vendor interface of the communication layer, implemented with HIP.
#include <hip/hip_runtime.h>

#define HEDDLE_GPU(name) hip##name
#include "comm/vendor/vendor_runtime.hpp"

namespace heddle::impl::vendor {

Stream stream_of(const ExecutionSpace& space) {
  return space.hip_stream();
}
ExecutionSpace instance_on(Stream stream) {
  return ExecutionSpace(static_cast<hipStream_t>(stream));
}

DeviceIdentity device_identity(int device) {
  hipUUID identifier{};
  check("ask for a device's identity", hipDeviceGetUuid(&identifier, device));
  DeviceIdentity identity{};
  static_assert(sizeof(identifier.bytes) == sizeof(identity));
  std::memcpy(identity.data(), identifier.bytes, sizeof(identity));
  return identity;
}

bool is_pinned_host(const void* data) {
  hipPointerAttribute_t attributes{};
  if (data == nullptr || !succeeded(hipPointerGetAttributes(&attributes, data))) {
    return false;
  }
#if HIP_VERSION_MAJOR >= 6
  return attributes.type == hipMemoryTypeHost;
#else
  return attributes.memoryType == hipMemoryTypeHost;
#endif
}

std::optional<Export> allocation_of(const void* data) {
  const auto address = reinterpret_cast<hipDeviceptr_t>(const_cast<void*>(data));
  hipDeviceptr_t base = nullptr;
  std::size_t size = 0;
  unsigned int id = 0;
  if (!succeeded(hipMemGetAddressRange(&base, &size, address)) ||
      !succeeded(hipPointerGetAttribute(&id, HIP_POINTER_ATTRIBUTE_BUFFER_ID, address))) {
    return {};
  }
  Export allocation;
  allocation.owner = process_number();
  allocation.base = reinterpret_cast<std::uint64_t>(base);
  allocation.size = size;
  allocation.id = id;
  return allocation;
}

}  // namespace heddle::impl::vendor
