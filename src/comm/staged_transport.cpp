#include <heddle/comm/transport.hpp>

#include <algorithm>
#include <cstdlib>

namespace heddle {
namespace {

// MPI counts are int, and pieces of a long message can be under way side by side.
constexpr std::size_t piece_bytes = std::size_t{1} << 30;

template <class Start> std::vector<MPI_Request> start_pieces(std::size_t bytes, const Start& start) {
  std::vector<MPI_Request> pieces((bytes + piece_bytes - 1) / piece_bytes, MPI_REQUEST_NULL);
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    start(k * piece_bytes, static_cast<int>(std::min(piece_bytes, bytes - k * piece_bytes)), &pieces[k]);
  }
  return pieces;
}

class StagedTransport final : public Transport {
 public:
  explicit StagedTransport(Communicator comm, std::string reason)
      : comm_(std::move(comm)), reason_(std::move(reason)) {}

  TransportKind kind() const noexcept override { return TransportKind::staged; }
  std::string reason() const override { return reason_; }

 protected:
  using Stage = Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace>;
  using Bytes = Kokkos::View<std::byte*, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using ConstBytes = Kokkos::View<const std::byte*, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr bool needs_stage = !Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

  Request send_bytes(const void* data, std::size_t bytes, int destination, int tag, std::any kept) override {
    if (bytes == 0) {
      return {};
    }
    const void* from = data;
    if constexpr (needs_stage) {
      const Stage stage(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::comm::send_stage"), bytes);
      Kokkos::deep_copy(comm_.space(), stage, ConstBytes(static_cast<const std::byte*>(data), bytes));
      from = stage.data();
      kept = stage;
    }
    comm_.space().fence("heddle::comm::before_send");
    return {start_pieces(bytes,
                         [&](std::size_t offset, int count, MPI_Request* request) {
                           MPI_Isend(static_cast<const std::byte*>(from) + offset, count, MPI_BYTE, destination, tag,
                                     comm_.native(), request);
                         }),
            std::move(kept)};
  }

  Request receive_bytes(void* data, std::size_t bytes, int source, int tag, std::any kept) override {
    if (bytes == 0) {
      return {};
    }
    void* to = data;
    std::function<void()> finish;
    if constexpr (needs_stage) {
      const Stage stage(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::comm::receive_stage"), bytes);
      to = stage.data();
      finish = [space = comm_.space(), stage, data, kept] {
        Kokkos::deep_copy(space, Bytes(static_cast<std::byte*>(data), stage.size()), stage);
        space.fence("heddle::comm::after_receive");
      };
    }
    return {start_pieces(bytes,
                         [&](std::size_t offset, int count, MPI_Request* request) {
                           MPI_Irecv(static_cast<std::byte*>(to) + offset, count, MPI_BYTE, source, tag, comm_.native(),
                                     request);
                         }),
            std::move(kept), std::move(finish)};
  }

 private:
  Communicator comm_;
  std::string reason_;
};

}  // namespace

std::string_view to_string(TransportKind kind) {
  switch (kind) {
    case TransportKind::staged:
      return "staged";
  }
  throw Error(ErrorKind::argument, "not a value of heddle::TransportKind");
}

std::shared_ptr<Transport> make_transport(const Communicator& comm) {
  // Rank 0's environment decides, so that all ranks choose alike.
  std::string wanted;
  if (const char* value = std::getenv("HEDDLE_TRANSPORT"); value != nullptr && comm.rank() == 0) {
    wanted = value;
  }
  comm.broadcast(wanted, 0);
  require(wanted.empty() || wanted == to_string(TransportKind::staged), "HEDDLE_TRANSPORT='", wanted,
          "': expected staged");
  const bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;
  return std::make_shared<StagedTransport>(comm, !wanted.empty() ? "HEDDLE_TRANSPORT asks for it"
                                                 : on_host ? "matrices are in host memory, MPI takes them as they are"
                                                           : "any MPI can take pinned host buffers");
}

}  // namespace heddle
