// The vendor interface of the communication layer, implemented with CUDA.
#include <cuda.h>
#include <cuda_runtime.h>

#define HEDDLE_GPU(name) cuda##name
#include "comm/vendor/vendor_runtime.hpp"

namespace heddle::impl::vendor {

Stream stream_of(const ExecutionSpace& space) {
  return space.cuda_stream();
}
ExecutionSpace instance_on(Stream stream) {
  return ExecutionSpace(static_cast<cudaStream_t>(stream));
}

DeviceIdentity device_identity(int device) {
  cudaDeviceProp properties{};
  check("ask for a device's identity", cudaGetDeviceProperties(&properties, device));
  DeviceIdentity identity{};
  static_assert(sizeof(properties.uuid.bytes) == sizeof(identity));
  std::memcpy(identity.data(), properties.uuid.bytes, sizeof(identity));
  return identity;
}

bool is_pinned_host(const void* data) {
  cudaPointerAttributes attributes{};
  return data != nullptr && succeeded(cudaPointerGetAttributes(&attributes, data)) &&
         attributes.type == cudaMemoryTypeHost;
}

std::optional<Export> allocation_of(const void* data) {
  const auto address = reinterpret_cast<CUdeviceptr>(data);
  CUdeviceptr base = 0;
  std::size_t size = 0;
  unsigned long long id = 0;
  if (cuMemGetAddressRange(&base, &size, address) != CUDA_SUCCESS ||
      cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, address) != CUDA_SUCCESS) {
    return {};
  }
  Export allocation;
  allocation.owner = process_number();
  allocation.base = base;
  allocation.size = size;
  allocation.id = id;
  return allocation;
}

}  // namespace heddle::impl::vendor
