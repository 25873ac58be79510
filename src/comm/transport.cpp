// Which transport a communicator gets, and what all transports share.
#include "comm/transports.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace heddle {
namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;
constexpr std::array kinds = {TransportKind::peer, TransportKind::direct, TransportKind::staged};

// What the MPI itself says of device memory. Trying would be a segmentation fault where it says no.
bool mpi_takes_device_memory() {
#if defined(KOKKOS_ENABLE_CUDA) && defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#elif defined(KOKKOS_ENABLE_HIP) && defined(OMPI_HAVE_MPI_EXT_ROCM)
  return MPIX_Query_rocm_support() == 1;
#else
  return false;
#endif
}

Availability direct_availability(const Communicator& comm) {
  if (on_host) {
    return {true, "matrices are in host memory, MPI takes them as they are"};
  }
  const char* word = std::getenv("HEDDLE_GPU_AWARE_MPI");
  const bool given = word != nullptr && std::string_view(word) == "1";
  if (comm.all_reduce(mpi_takes_device_memory() ? 1 : 0, Reduction::minimum) == 1) {
    return {true, "the MPI says that it takes device memory"};
  }
  if (comm.all_reduce(given ? 1 : 0, Reduction::minimum) == 1) {
    return {true, "HEDDLE_GPU_AWARE_MPI=1 says that the MPI takes device memory"};
  }
  return {false, "this MPI does not say that it takes device memory; if it does, set HEDDLE_GPU_AWARE_MPI=1"};
}

std::unique_ptr<Transport::Implementation> make(const Communicator& comm, TransportKind kind,
                                                const std::string& reason) {
  const impl::Ranks ranks{comm.native(), comm.rank(), comm.size(), comm.space()};
  switch (kind) {
    case TransportKind::peer:
      return impl::make_peer_transport(ranks, reason);
    case TransportKind::direct:
      return impl::make_direct_transport(ranks, reason);
    case TransportKind::staged:
      return impl::make_staged_transport(ranks, reason);
  }
  throw Error(ErrorKind::argument, "not a value of heddle::TransportKind");
}

}  // namespace

std::string_view to_string(TransportKind kind) {
  switch (kind) {
    case TransportKind::peer:
      return "peer";
    case TransportKind::direct:
      return "direct";
    case TransportKind::staged:
      return "staged";
  }
  throw Error(ErrorKind::argument, "not a value of heddle::TransportKind");
}

Availability availability(const Communicator& comm, TransportKind kind) {
  switch (kind) {
    case TransportKind::peer:
      return impl::peer_availability(comm);
    case TransportKind::direct:
      return direct_availability(comm);
    case TransportKind::staged:
      return {true, "any MPI can take pinned host buffers"};
  }
  throw Error(ErrorKind::argument, "not a value of heddle::TransportKind");
}

Transport make_transport(const Communicator& comm, TransportKind kind) {
  const Availability found = availability(comm, kind);
  require(found.available, "transport ", to_string(kind), ": ", found.reason);
  struct Holder {
    Communicator comm;
    std::unique_ptr<Transport::Implementation> transport;
  };
  const auto holder = std::make_shared<Holder>(Holder{comm, make(comm, kind, found.reason)});
  return Transport(std::shared_ptr<Transport::Implementation>(holder, holder->transport.get()));
}

std::unique_ptr<Transport::Implementation> impl::choose_transport(const Communicator& comm) {
  // Rank 0's environment decides, so that all ranks choose alike.
  std::string wanted;
  if (const char* value = std::getenv("HEDDLE_TRANSPORT"); value != nullptr && comm.rank() == 0) {
    wanted = value;
  }
  comm.broadcast(wanted, 0);
  std::string missing;
  for (const TransportKind kind : kinds) {
    if (!wanted.empty() && wanted != to_string(kind)) {
      continue;
    }
    const Availability found = availability(comm, kind);
    if (found.available) {
      return make(comm, kind,
                  !wanted.empty()   ? "HEDDLE_TRANSPORT asks for it"
                  : missing.empty() ? found.reason
                                    : found.reason + missing);
    }
    require(wanted.empty(), "HEDDLE_TRANSPORT=", wanted, ": ", found.reason);
    if (!on_host) {
      missing += message_of("; not ", to_string(kind), ": ", found.reason);
    }
  }
  throw Error(ErrorKind::argument, message_of("HEDDLE_TRANSPORT='", wanted, "': expected peer, direct or staged"));
}

Transport::Implementation::Implementation(const ExecutionSpace& space, std::string reason)
    : space_(space), reason_(std::move(reason)), progress_(std::make_shared<Request::Progress>()) {}

void Transport::Implementation::drain() {
  while (!progress_->idle()) {
    progress_->advance();
  }
  drained();
}

void Transport::Implementation::close() noexcept {
  try {
    if (std::uncaught_exceptions() == 0) {
      drain();
      return;
    }
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
    // Whoever waited for the operation was told.
  }
  // The other ranks may never answer. What is under way stays as it is until the job ends.
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): without memory the job ends at once.
  static_cast<void>(new std::shared_ptr<Request::Progress>(progress_));
}

void Transport::Implementation::require_taken(const char* operation, const Bytes& block) const {
  require(takes_blocks() || block.columns == 1 || block.leading == block.width, operation, ": a ", to_string(kind()),
          " transport takes contiguous blocks alone");
}

Request Transport::Implementation::begin(std::shared_ptr<Request::Transfer> operation, std::any kept,
                                         const ExecutionSpace* order_on) {
  progress_->add(operation);
  operation->advance();
  return {std::move(operation), progress_, std::move(kept), order_on};
}

Request Transport::Implementation::begin_send(const Bytes& block, int destination, int tag, const Event& ready,
                                              std::any kept) {
  if (block.width * block.columns == 0) {
    return {};
  }
  require_taken("send", block);
  return begin(make_send(block, destination, tag, ready), std::move(kept), nullptr);
}

Request Transport::Implementation::begin_receive(const Bytes& block, int source, int tag, std::span<const Event> free,
                                                 std::any kept, Order order) {
  if (block.width * block.columns == 0) {
    return {};
  }
  require_taken("receive", block);
  return begin(make_receive(block, source, tag, free), std::move(kept), order == Order::on_space ? &space_ : nullptr);
}

std::shared_ptr<Request::Transfer> Transport::Implementation::make_receive_by(
    // NOLINTNEXTLINE(performance-unnecessary-value-param): transports that show blocks keep it.
    const Bytes& /*shape*/, int /*source*/, int /*tag*/, std::function<void(const Bytes&)> /*read*/) {
  throw Error(ErrorKind::argument, message_of("receive_by: a ", to_string(kind()), " transport shows no blocks"));
}

Request Transport::Implementation::begin_receive_by(const Bytes& shape, int source, int tag,
                                                    std::function<void(const Bytes&)> read) {
  if (shape.width * shape.columns == 0) {
    return {};
  }
  return begin(make_receive_by(shape, source, tag, std::move(read)), {}, nullptr);
}

Transport::Transport(std::shared_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}

TransportKind Transport::kind() const noexcept {
  return implementation_->kind();
}
const std::string& Transport::reason() const noexcept {
  return implementation_->reason();
}
bool Transport::takes_blocks() const noexcept {
  return implementation_->takes_blocks();
}
bool Transport::shows_blocks() const noexcept {
  return implementation_->shows_blocks();
}
void Transport::progress() const {
  implementation_->progress();
}
void Transport::drain() const {
  implementation_->drain();
}
void Transport::set_timed(bool timed) const noexcept {
  implementation_->set_timed(timed);
}
const ExecutionSpace& Transport::space() const noexcept {
  return implementation_->space();
}
Request Transport::begin_send(const Bytes& block, int destination, int tag, const Event& ready, std::any kept) const {
  return implementation_->begin_send(block, destination, tag, ready, std::move(kept));
}
Request Transport::begin_receive(const Bytes& block, int source, int tag, std::span<const Event> free, std::any kept,
                                 Order order) const {
  return implementation_->begin_receive(block, source, tag, free, std::move(kept), order);
}
Request Transport::begin_receive_by(const Bytes& shape, int source, int tag,
                                    std::function<void(const Bytes&)> read) const {
  return implementation_->begin_receive_by(shape, source, tag, std::move(read));
}

}  // namespace heddle
