// Links over NCCL or RCCL.
#include "comm/vendor/nccl.hpp"

#include "comm/vendor/queue.hpp"
#include <heddle/core/error.hpp>

#if defined(KOKKOS_ENABLE_HIP)
#include <rccl/rccl.h>
#else
#include <nccl.h>
#endif

#include <cstdlib>
#include <cstring>

namespace heddle::impl {
namespace {

#if defined(KOKKOS_ENABLE_HIP)
constexpr const char* library = "RCCL";
using NativeStream = hipStream_t;
#else
constexpr const char* library = "NCCL";
using NativeStream = cudaStream_t;
#endif

// The most thread blocks of one message's kernel. All messages that may be under way at once must find room on the
// device, as each waits there for its other end (linked_transport.cpp). Multiprocessors that they hold compute no
// products: those of n = 32768 on two H100 take 1 % longer with one block, 6 % with four and 20 % with eight. Four
// bring 117 GB/s, the rate of a network.
constexpr int most_blocks = 4;

// A communicator of two ranks, the sender being its rank 0, whose calls do not block: they begin, and ready() tells
// when they are over.
class NcclLink final : public Link {
 public:
  NcclLink(const LinkId& id, bool sends, int partner) : partner_(partner), other_(sends ? 1 : 0), queue_(true) {
    ncclUniqueId native{};
    static_assert(sizeof(native) == sizeof(id));
    std::memcpy(&native, id.data(), sizeof(native));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    config.maxCTAs = most_blocks;
    check("open a link", ncclCommInitRankConfig(&comm_, 2, native, 1 - other_, &config));
  }
  ~NcclLink() override {
    if (comm_ == nullptr) return;
    if (closing_ && is_over()) {
      ncclCommDestroy(comm_);
    } else {
      ncclCommAbort(comm_);
    }
  }

  bool ready() override {
    ncclResult_t state = ncclSuccess;
    check("ask for a link's state", ncclCommGetAsyncError(require_open(), &state));
    if (state == ncclInProgress) return false;
    check("go on", state);
    return true;
  }
  void send(const void* data, std::size_t bytes) override {
    check("send", ncclSend(data, bytes, ncclUint8, other_, require_open(), stream()));
  }
  void receive(void* data, std::size_t bytes) override {
    check("receive", ncclRecv(data, bytes, ncclUint8, other_, require_open(), stream()));
  }
  Event event(bool timed) const override { return queue_.event(timed); }
  void close() override {
    closing_ = true;
    check("close a link", ncclCommFinalize(require_open()));
  }
  void abort() noexcept override {
    if (comm_ != nullptr) ncclCommAbort(comm_);
    comm_ = nullptr;
  }

 private:
  [[nodiscard]] NativeStream stream() const { return static_cast<NativeStream>(queue_.stream()); }
  [[nodiscard]] ncclComm_t require_open() const {
    if (comm_ == nullptr) {
      throw Error(ErrorKind::computation, message_of(library, ": the link with rank ", partner_, " was given up"));
    }
    return comm_;
  }
  [[nodiscard]] bool is_over() const noexcept {
    ncclResult_t state = ncclSuccess;
    return ncclCommGetAsyncError(comm_, &state) == ncclSuccess && state == ncclSuccess;
  }
  void check(const char* what, ncclResult_t result) const {
    if (result == ncclSuccess || result == ncclInProgress) return;
    throw Error(ErrorKind::computation, message_of(library, " failed to ", what, " with rank ", partner_, ": ",
                                                   ncclGetErrorString(result), "; ", ncclGetLastError(comm_)));
  }

  int partner_;
  int other_;  // The partner's number on the link.
  CopyQueue queue_;
  ncclComm_t comm_ = nullptr;
  bool closing_ = false;
};

class NcclLinks final : public LinkMaker {
 public:
  // Multicast over NVLink serves collective calls, of which there are none here, and takes a resource that a host's
  // GPUs share, which a program that is killed may leave taken. A value set by the caller stands.
  NcclLinks() { setenv("NCCL_NVLS_ENABLE", "0", 0); }

  LinkId new_id() override {
    ncclUniqueId native{};
    if (const ncclResult_t result = ncclGetUniqueId(&native); result != ncclSuccess) {
      throw Error(ErrorKind::computation, message_of(library, " failed to begin: ", ncclGetErrorString(result), "; ",
                                                     ncclGetLastError(nullptr)));
    }
    LinkId id{};
    std::memcpy(id.data(), &native, sizeof(native));
    return id;
  }
  std::unique_ptr<Link> open(const LinkId& id, bool sends, int partner) override {
    return std::make_unique<NcclLink>(id, sends, partner);
  }
};

}  // namespace

std::string nccl_version() {
  int version = 0;
  if (ncclGetVersion(&version) != ncclSuccess) return library;
  return message_of(library, " ", version / 10000, ".", version / 100 % 100, ".", version % 100);
}

std::unique_ptr<LinkMaker> make_nccl_links() {
  return std::make_unique<NcclLinks>();
}

}  // namespace heddle::impl
