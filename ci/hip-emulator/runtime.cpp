// HIP's runtime for an emulated device: its memory is the host's, and each call is done when it returns.
#include "wavefronts.hpp"

#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

using emulated::Binary;
using emulated::die;

namespace {

struct Symbol {
  Binary* binary;
  std::string name;
};
using Symbols = std::map<const void*, Symbol>;
struct Allocation {
  std::size_t bytes;
  hipMemoryType type;
};
using Allocations = std::map<const void*, Allocation>;
struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  hipStream_t stream;
};

// They are never destroyed, as destructors of programs call the runtime.
Symbols& functions() {
  static auto* const all = new Symbols;
  return *all;
}
Symbols& variables() {
  static auto* const all = new Symbols;
  return *all;
}
Allocations& allocations() {
  static auto* const all = new Allocations;
  return *all;
}
std::vector<Configuration>& configurations() {
  static auto* const all = new std::vector<Configuration>;
  return *all;
}

const emulated::Kernel& kernel_of(const void* function) {
  const auto found = functions().find(function);
  if (found == functions().end()) die("a kernel that no code registered");
  return found->second.binary->kernel(found->second.name);
}
const emulated::Variable& variable_of(const void* variable) {
  const auto found = variables().find(variable);
  if (found == variables().end()) die("a variable that no code registered");
  return found->second.binary->variable(found->second.name);
}

hipError_t allocate(void** memory, std::size_t bytes, hipMemoryType type) {
  *memory = nullptr;
  if (bytes == 0) return hipSuccess;
  // Lanes load whole words, also past the end. New memory holds no zeros, so that none are taken for granted.
  if (posix_memalign(memory, 4096, bytes + 256) != 0) return hipErrorOutOfMemory;
  std::memset(*memory, 0xcd, bytes + 256);
  allocations()[*memory] = {bytes, type};
  return hipSuccess;
}
hipError_t release(void* memory) {
  allocations().erase(memory);
  std::free(memory);
  return hipSuccess;
}
Allocations::const_iterator allocation_of(const void* address) {
  auto found = allocations().upper_bound(address);
  if (found == allocations().begin()) return allocations().end();
  --found;
  const auto* const begin = static_cast<const char*>(found->first);
  return static_cast<const char*>(address) < begin + found->second.bytes ? found : allocations().end();
}

constexpr int multiprocessors = 2;
constexpr int most_threads = 1024;
constexpr int threads_of_multiprocessor = 2048;
constexpr std::size_t shared_bytes_of_block = 65536;
constexpr std::size_t memory_bytes = std::size_t{8} << 30U;

}  // namespace

extern "C" {

// Functions that the compiler has a program call.
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const char* bundle;
  const void* unused;
};
void** __hipRegisterFatBinary(const Wrapper* wrapper) {
  return reinterpret_cast<void**>(new Binary(wrapper->bundle));
}
void __hipUnregisterFatBinary(void** /*binary*/) {}
void __hipRegisterFunction(void** binary, const void* function, char* /*function_name*/, const char* name,
                           unsigned /*limit*/, void* /*thread*/, void* /*block*/, void* /*block_size*/,
                           void* /*grid_size*/, int* /*width*/) {
  functions()[function] = {reinterpret_cast<Binary*>(binary), name};
}
void __hipRegisterVar(void** binary, void* variable, char* /*host_name*/, const char* name, int /*is_external*/,
                      std::size_t /*bytes*/, int /*is_constant*/, int /*is_global*/) {
  variables()[variable] = {reinterpret_cast<Binary*>(binary), name};
}
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, hipStream_t stream) {
  configurations().push_back({grid, block, shared_bytes, stream});
  return hipSuccess;
}
hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, hipStream_t* stream) {
  const Configuration last = configurations().back();
  configurations().pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *stream = last.stream;
  return hipSuccess;
}

// Kernels.
hipError_t hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                           hipStream_t /*stream*/) {
  if (std::getenv("HIP_EMULATOR_KERNELS") != nullptr) {
    std::fprintf(stderr, "%s %ux%ux%u of %ux%ux%u\n", functions()[function].name.c_str(), grid.x, grid.y, grid.z,
                 block.x, block.y, block.z);
  }
  emulated::launch(kernel_of(function), {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, arguments, shared_bytes);
  return hipSuccess;
}
hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* function) {
  const emulated::Kernel& kernel = kernel_of(function);
  *attributes = {};
  attributes->sharedSizeBytes = kernel.shared_bytes();
  attributes->localSizeBytes = kernel.private_bytes();
  attributes->maxThreadsPerBlock = kernel.most_threads;
  attributes->numRegs = kernel.registers;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(shared_bytes_of_block - kernel.shared_bytes());
  return hipSuccess;
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* /*function*/, int threads,
                                                        std::size_t /*bytes*/) {
  *blocks = threads_of_multiprocessor / threads;
  return hipSuccess;
}

// The device.
hipError_t hipGetDeviceCount(int* count) {
  *count = 1;
  return hipSuccess;
}
hipError_t hipSetDevice(int /*device*/) {
  return hipSuccess;
}
hipError_t hipGetDevice(int* device) {
  *device = 0;
  return hipSuccess;
}
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* properties, int /*device*/) {
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "emulated %s", emulated::target());
  std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s", emulated::target());
  properties->totalGlobalMem = memory_bytes;
  properties->sharedMemPerBlock = shared_bytes_of_block;
  properties->maxSharedMemoryPerMultiProcessor = shared_bytes_of_block;
  properties->regsPerBlock = 65536;
  properties->warpSize = emulated::lanes();
  properties->maxThreadsPerBlock = most_threads;
  properties->maxThreadsPerMultiProcessor = threads_of_multiprocessor;
  properties->multiProcessorCount = multiprocessors;
  for (int axis = 0; axis < 3; ++axis) {
    properties->maxThreadsDim[axis] = most_threads;
    properties->maxGridSize[axis] = axis == 0 ? 2147483647 : 65535;
  }
  return hipSuccess;
}
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int /*device*/) {
  switch (attribute) {
    case hipDeviceAttributeWarpSize:
      *value = emulated::lanes();
      break;
    case hipDeviceAttributeMultiprocessorCount:
      *value = multiprocessors;
      break;
    case hipDeviceAttributeMaxThreadsPerBlock:
      *value = most_threads;
      break;
    case hipDeviceAttributeMaxThreadsPerMultiProcessor:
      *value = threads_of_multiprocessor;
      break;
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
      *value = shared_bytes_of_block;
      break;
    default:
      *value = 0;
  }
  return hipSuccess;
}
hipError_t hipDeviceSynchronize() {
  return hipSuccess;
}
hipError_t hipGetLastError() {
  return hipSuccess;
}
const char* hipGetErrorName(hipError_t error) {
  return error == hipSuccess ? "hipSuccess" : "hipError";
}
const char* hipGetErrorString(hipError_t error) {
  return error == hipSuccess ? "no error" : "an error of the emulated device";
}

// Memory.
hipError_t hipMalloc(void** memory, std::size_t bytes) {
  return allocate(memory, bytes, hipMemoryTypeDevice);
}
hipError_t hipMallocAsync(void** memory, std::size_t bytes, hipStream_t /*stream*/) {
  return allocate(memory, bytes, hipMemoryTypeDevice);
}
hipError_t hipMallocManaged(void** memory, std::size_t bytes, unsigned /*flags*/) {
  return allocate(memory, bytes, hipMemoryTypeManaged);
}
hipError_t hipHostMalloc(void** memory, std::size_t bytes, unsigned /*flags*/) {
  return allocate(memory, bytes, hipMemoryTypeHost);
}
hipError_t hipFree(void* memory) {
  return release(memory);
}
hipError_t hipFreeAsync(void* memory, hipStream_t /*stream*/) {
  return release(memory);
}
hipError_t hipHostFree(void* memory) {
  return release(memory);
}
hipError_t hipMemGetInfo(std::size_t* available, std::size_t* total) {
  *available = *total = memory_bytes;
  return hipSuccess;
}
hipError_t hipMemAdvise(const void* /*memory*/, std::size_t /*bytes*/, hipMemoryAdvise /*advice*/, int /*device*/) {
  return hipSuccess;
}
hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind /*kind*/) {
  std::memmove(to, from, bytes);
  return hipSuccess;
}
hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind, hipStream_t /*stream*/) {
  return hipMemcpy(to, from, bytes, kind);
}
hipError_t hipMemset(void* memory, int value, std::size_t bytes) {
  std::memset(memory, value, bytes);
  return hipSuccess;
}
hipError_t hipMemsetAsync(void* memory, int value, std::size_t bytes, hipStream_t /*stream*/) {
  return hipMemset(memory, value, bytes);
}
hipError_t hipMemcpyToSymbol(const void* variable, const void* from, std::size_t bytes, std::size_t offset,
                             hipMemcpyKind /*kind*/) {
  if (offset + bytes > variable_of(variable).bytes) return hipErrorInvalidValue;
  std::memcpy(variable_of(variable).address + offset, from, bytes);
  return hipSuccess;
}
hipError_t hipMemcpyToSymbolAsync(const void* variable, const void* from, std::size_t bytes, std::size_t offset,
                                  hipMemcpyKind kind, hipStream_t /*stream*/) {
  return hipMemcpyToSymbol(variable, from, bytes, offset, kind);
}
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* address) {
  const auto found = allocation_of(address);
  if (found == allocations().end()) return hipErrorInvalidValue;
  *attributes = {};
  attributes->type = found->second.type;
  attributes->devicePointer = attributes->hostPointer = const_cast<void*>(address);
  return hipSuccess;
}

// Streams and events: their work is done already, so a handle is all that they are.
hipError_t hipStreamCreate(hipStream_t* stream) {
  *stream = reinterpret_cast<hipStream_t>(new char);
  return hipSuccess;
}
hipError_t hipStreamDestroy(hipStream_t stream) {
  delete reinterpret_cast<char*>(stream);
  return hipSuccess;
}
hipError_t hipStreamSynchronize(hipStream_t /*stream*/) {
  return hipSuccess;
}
hipError_t hipStreamGetDevice(hipStream_t /*stream*/, hipDevice_t* device) {
  *device = 0;
  return hipSuccess;
}
hipError_t hipEventCreate(hipEvent_t* event) {
  *event = reinterpret_cast<hipEvent_t>(new char);
  return hipSuccess;
}
hipError_t hipEventDestroy(hipEvent_t event) {
  delete reinterpret_cast<char*>(event);
  return hipSuccess;
}
hipError_t hipEventRecord(hipEvent_t /*event*/, hipStream_t /*stream*/) {
  return hipSuccess;
}
hipError_t hipEventSynchronize(hipEvent_t /*event*/) {
  return hipSuccess;
}

}  // extern "C"
