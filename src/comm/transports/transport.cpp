// Choice of a communicator's transport, and code that all transports share.
#include "comm/failures/group.hpp"
#include "comm/transports/transports.hpp"
#include "comm/vendor/nccl.hpp"
#include "core/on_host.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <sstream>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace heddle {
namespace {

// MPI's own answer whether it takes device memory. If it does not, a trial would be a segmentation fault.
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
  if (impl::on_host) {
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

// NCCL identifies ranks by their devices, and takes each device once.
Availability nccl_availability(const Communicator& comm) {
  const std::string version = impl::nccl_version();
  if (comm.all_reduce(version.empty() ? 0 : 1, Reduction::minimum) == 0) {
    return {false, impl::on_host ? "there is no device memory in this build" : "this build has no NCCL"};
  }
  using Identity = impl::vendor::DeviceIdentity;
  const Identity mine = impl::vendor::device_identity(Kokkos::device_id());
  std::vector<Identity> all(static_cast<std::size_t>(comm.size()));
  comm.all_gather(std::span<const Identity>(&mine, 1), std::span(all));
  std::sort(all.begin(), all.end());
  if (std::adjacent_find(all.begin(), all.end()) != all.end()) return {false, "several ranks share a GPU"};
  return {true, message_of(version, " sends from GPU to GPU")};
}

// Whether every rank can read every other's memory, and the reason, from the nodes' availabilities.
Availability of_all_ranks(const Communicator& comm, const std::vector<Availability>& nodes) {
  if (nodes.size() > 1) return {false, "the ranks are on several nodes"};
  if (comm.size() == 1 && nodes.front().available) return {true, "there is one rank"};
  return nodes.front();
}

// Rank 0's HEDDLE_TRANSPORT decides, so that all ranks choose alike.
std::vector<TransportKind> kinds_allowed(const Communicator& comm, std::string& wanted) {
  if (const char* value = std::getenv("HEDDLE_TRANSPORT"); value != nullptr && comm.rank() == 0) wanted = value;
  comm.broadcast(wanted, 0);
  if (wanted.empty()) return {transport_kinds.begin(), transport_kinds.end()};
  std::vector<TransportKind> allowed;
  std::istringstream words(wanted);
  for (std::string word; std::getline(words, word, ',');) {
    const auto found = std::find_if(transport_kinds.begin(), transport_kinds.end(),
                                    [&](TransportKind kind) { return to_string(kind) == word; });
    require(found != transport_kinds.end(), "HEDDLE_TRANSPORT='", wanted,
            "': expected peer, direct, nccl or staged, or several with commas");
    if (std::find(allowed.begin(), allowed.end(), *found) == allowed.end()) allowed.push_back(*found);
  }
  return allowed;
}

}  // namespace

std::string_view to_string(TransportKind kind) {
  switch (kind) {
    case TransportKind::peer:
      return "peer";
    case TransportKind::direct:
      return "direct";
    case TransportKind::nccl:
      return "nccl";
    case TransportKind::staged:
      return "staged";
  }
  throw Error(ErrorKind::argument, "not a value of heddle::TransportKind");
}

Availability availability(const Communicator& comm, TransportKind kind) {
  switch (kind) {
    case TransportKind::peer:
      return of_all_ranks(comm, impl::peer_availability(comm));
    case TransportKind::direct:
      return direct_availability(comm);
    case TransportKind::nccl:
      return nccl_availability(comm);
    case TransportKind::staged:
      return {true, "any MPI can take pinned host buffers"};
  }
  throw Error(ErrorKind::argument, "not a value of heddle::TransportKind");
}

std::unique_ptr<Transport::Implementation> impl::make_transport_of(const Way& way, const Ranks& ranks,
                                                                   std::shared_ptr<Progress> progress) {
  switch (way.kind) {
    case TransportKind::peer:
      return make_peer_transport(ranks, way.reason, std::move(progress));
    case TransportKind::direct:
      return make_direct_transport(ranks, way.reason, std::move(progress));
    case TransportKind::nccl:
      return make_linked_transport(ranks, way.reason, std::move(progress), make_nccl_links());
    case TransportKind::staged:
      return make_staged_transport(ranks, way.reason, std::move(progress));
  }
  throw Error(ErrorKind::argument, "not a value of heddle::TransportKind");
}

Transport make_transport(const Communicator& comm, TransportKind kind) {
  return comm.together([&] {
    const Availability found = availability(comm, kind);
    require(found.available, "transport ", to_string(kind), ": ", found.reason);
    struct Holder {
      Communicator comm;
      std::unique_ptr<Transport::Implementation> transport;
    };
    const auto holder =
        std::make_shared<Holder>(Holder{comm, impl::make_transport_of({kind, found.reason}, impl::ranks_of(comm))});
    return Transport(std::shared_ptr<Transport::Implementation>(holder, holder->transport.get()));
  });
}

std::unique_ptr<Transport::Implementation> impl::choose_transport(const Communicator& comm) {
  std::string wanted;
  const std::vector<TransportKind> allowed = kinds_allowed(comm, wanted);
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<Way> ways;
  // By node: the way within it; and the one between nodes. -1: none yet.
  std::vector<int> within(static_cast<std::size_t>(comm.nodes()), -1);
  int between = comm.nodes() > 1 ? -1 : 0;
  std::string missing;
  const auto is_open = [](int way) { return way < 0; };
  for (const TransportKind kind : allowed) {
    if (between >= 0 && std::none_of(within.begin(), within.end(), is_open)) break;
    const std::vector<Availability> found = kind == TransportKind::peer
                                                ? peer_availability(comm)
                                                : std::vector<Availability>(within.size(), availability(comm, kind));
    const auto works = std::find_if(found.begin(), found.end(), [](const Availability& one) { return one.available; });
    for (const Availability& one : found) {
      if (one.available) continue;
      missing += message_of("; not ", to_string(kind), ": ", one.reason);
      break;
    }
    if (works == found.end()) continue;
    const auto way = static_cast<int>(ways.size());
    bool used = false;
    for (std::size_t node = 0; node < within.size(); ++node) {
      if (within[node] >= 0 || !found[node].available) continue;
      within[node] = way;
      used = true;
    }
    if (between < 0 && kind != TransportKind::peer) {
      between = way;
      used = true;
    } else if (between < 0) {
      missing += "; not peer: the ranks are on several nodes";
    }
    const bool says_why_not = wanted.empty() && !impl::on_host;
    if (used)
      ways.push_back(
          {kind, wanted.empty() ? works->reason + (says_why_not ? missing : "") : "HEDDLE_TRANSPORT asks for it"});
  }
  require(between >= 0 && std::none_of(within.begin(), within.end(), is_open), "HEDDLE_TRANSPORT=", wanted, ": ",
          missing.empty() ? missing : missing.substr(missing.find(": ") + 2));
  if (ways.size() == 1) return make_transport_of(ways.front(), ranks_of(comm));
  std::vector<int> of_partner(ranks, between);
  for (std::size_t r = 0; r < ranks; ++r) {
    const int node = comm.node_of(static_cast<int>(r));
    if (node == comm.node_of(comm.rank())) of_partner[r] = within[static_cast<std::size_t>(node)];
  }
  return make_mixed_transport(ranks_of(comm), ways, std::move(of_partner));
}

Transport::Implementation::Implementation(const impl::Ranks& ranks, std::string reason,
                                          std::shared_ptr<Request::Progress> progress)
    : ranks_(ranks), reason_(std::move(reason)), progress_(std::move(progress)) {
  ranks_.comm = impl::duplicate_of(ranks.comm, ranks.failures.get());
  if (progress_) return;
  progress_ = std::make_shared<Request::Progress>(ranks.failures);
  if (ranks.failures) ranks.failures->watch(progress_);
}

Transport::Implementation::~Implementation() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0 && !progress_->dirty() && !progress_->abandoned()) MPI_Comm_free(&ranks_.comm);
}

void Transport::Implementation::require_partner(int partner) const {
  require(partner >= 0 && partner < ranks_.size, "transport: rank ", partner, " is not one of ", ranks_.size);
}

void Transport::Implementation::drain() {
  while (!progress_->idle()) {
    progress_->advance();
  }
  drained();
}

void Transport::Implementation::close() noexcept {
  if (progress_->idle()) return;
  try {
    if (std::uncaught_exceptions() == 0) {
      drain();
      return;
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch)
    // Whoever waited for the operation was told.
  }
  // The other ranks may never answer.
  progress_->abandon(std::chrono::steady_clock::now() + Request::Progress::longest_stop);
}

void Transport::Implementation::require_taken(const char* operation, const Bytes& block) const {
  require(takes_blocks() || block.columns == 1 || block.leading == block.width, operation, ": transport ",
          to_string(kind(ranks_.rank)), " takes contiguous blocks alone");
}

Request Transport::Implementation::begin(std::shared_ptr<Request::Transfer> operation, const MessageName& name,
                                         std::any kept, const ExecutionSpace* order_on) {
  progress_->add(operation, name);
  // The request keeps the buffers, even if it fails at once.
  Request request(operation, progress_, std::move(kept), order_on);
  progress_->advance(*operation);
  return request;
}

Request Transport::Implementation::begin_send(const Bytes& block, int destination, int tag, const Event& ready,
                                              std::any kept) {
  if (block.width * block.columns == 0) {
    return {};
  }
  require_partner(destination);
  require_taken("send", block);
  progress_->require_not_abandoned();
  return begin(make_send(block, destination, tag, ready), {true, destination, tag, block.width * block.columns},
               std::move(kept), nullptr);
}

Request Transport::Implementation::begin_receive(const Bytes& block, int source, int tag, std::span<const Event> free,
                                                 std::any kept, Order order) {
  if (block.width * block.columns == 0) {
    return {};
  }
  require_partner(source);
  require_taken("receive", block);
  progress_->require_not_abandoned();
  return begin(make_receive(block, source, tag, free), {false, source, tag, block.width * block.columns},
               std::move(kept), order == Order::on_space ? &ranks_.space : nullptr);
}

std::shared_ptr<Request::Transfer> Transport::Implementation::make_receive_by(
    // NOLINTNEXTLINE(performance-unnecessary-value-param): transports that show blocks keep it.
    const Bytes& /*shape*/, int source, int /*tag*/, std::function<void(const Bytes&)> /*read*/) {
  throw Error(ErrorKind::argument, message_of("receive_by: transport ", to_string(kind(source)), " shows no blocks"));
}

Request Transport::Implementation::begin_receive_by(const Bytes& shape, int source, int tag,
                                                    std::function<void(const Bytes&)> read) {
  if (shape.width * shape.columns == 0) {
    return {};
  }
  require_partner(source);
  progress_->require_not_abandoned();
  return begin(make_receive_by(shape, source, tag, std::move(read)), {false, source, tag, shape.width * shape.columns},
               {}, nullptr);
}

Transport::Transport(std::shared_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}

TransportKind Transport::kind(int partner) const {
  implementation_->require_partner(partner);
  return implementation_->kind(partner);
}
const std::string& Transport::reason(int partner) const {
  implementation_->require_partner(partner);
  return implementation_->reason(partner);
}
bool Transport::only(TransportKind kind) const noexcept {
  return implementation_->only(kind);
}
bool Transport::takes_blocks() const noexcept {
  return implementation_->takes_blocks();
}
bool Transport::shows_blocks(int partner) const {
  implementation_->require_partner(partner);
  return implementation_->shows_blocks(partner);
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
