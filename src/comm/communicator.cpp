// Collective operations of a communicator and its handling of errors.
#include "comm/state.hpp"
#include "comm/transports/mpi_pieces.hpp"
#include "comm/transports/tags.hpp"
#include "core/current_error.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

namespace heddle {

namespace {

MPI_Op operation_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return MPI_SUM;
    case Reduction::minimum:
      return MPI_MIN;
    case Reduction::maximum:
      return MPI_MAX;
  }
  throw Error(ErrorKind::argument, "not a value of heddle::Reduction");
}

template <class T> MPI_Datatype type_of();
template <> MPI_Datatype type_of<double>() {
  return MPI_DOUBLE;
}
template <> MPI_Datatype type_of<float>() {
  return MPI_FLOAT;
}
template <> MPI_Datatype type_of<int>() {
  return MPI_INT;
}
template <> MPI_Datatype type_of<Index>() {
  return MPI_INT64_T;
}

}  // namespace

Communicator::Communicator(MPI_Comm parent, const ExecutionSpace& space) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  require(initialized != 0, "Communicator: MPI is not initialised; call MPI_Init first");
  require(parent != MPI_COMM_NULL, "Communicator: the communicator is MPI_COMM_NULL");
  state_ = std::make_shared<State>(parent, space);
}

int Communicator::rank() const noexcept {
  return state_->rank;
}
int Communicator::size() const noexcept {
  return state_->size;
}
int Communicator::nodes() const noexcept {
  return state_->nodes;
}
int Communicator::node_of(int rank) const {
  require(rank >= 0 && rank < size(), "node_of: rank ", rank, " is not one of ", size());
  return state_->node_of[static_cast<std::size_t>(rank)];
}
const std::vector<int>& Communicator::nodes_of_ranks() const noexcept {
  return state_->node_of;
}
int Communicator::node_rank() const noexcept {
  return state_->node_rank;
}
int Communicator::node_size() const noexcept {
  return state_->node_size;
}
const ExecutionSpace& Communicator::space() const noexcept {
  return state_->space;
}
MPI_Comm Communicator::native() const noexcept {
  return state_->comm;
}

void Communicator::barrier() const {
  const impl::Group group = state_->group();
  MPI_Request request = MPI_REQUEST_NULL;
  impl::checked(MPI_Ibarrier(group.comm, &request), "MPI_Ibarrier");
  group.complete(request, "a barrier", {});
}

void Communicator::broadcast_bytes(void* data, std::size_t bytes, int root) const {
  require(root >= 0 && root < size(), "broadcast: root ", root, " is not one of ", size(), " ranks");
  if (size() > 1) impl::broadcast_in_pieces(data, bytes, root, state_->group());
}

void Communicator::broadcast(std::string& text, int root) const {
  Index length = static_cast<Index>(text.size());
  broadcast(std::span<Index>(&length, 1), root);
  text.resize(static_cast<std::size_t>(length));
  broadcast_bytes(text.data(), text.size(), root);
}

void Communicator::all_gather_bytes(const void* mine, std::size_t bytes, void* all) const {
  impl::all_gather_in_pieces(mine, bytes, all, state_->group());
}

void Communicator::all_reduce_bytes(void* data, std::size_t count, std::size_t bytes,
                                    MPI_User_function* combine) const {
  const impl::Group group = state_->group();
  const impl::MpiElement element(bytes);
  MPI_Op operation = MPI_OP_NULL;
  impl::checked(MPI_Op_create(combine, 1, &operation), "MPI_Op_create");
  auto* const begin = static_cast<std::byte*>(data);
  const std::size_t longest = std::max<std::size_t>(impl::most_collective_bytes / bytes, 1);
  for (std::size_t at = 0; at < count; at += longest) {
    const std::size_t piece = std::min(longest, count - at);
    const auto copy = std::make_shared<std::vector<std::byte>>(begin + at * bytes, begin + (at + piece) * bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    impl::checked(MPI_Iallreduce(MPI_IN_PLACE, copy->data(), static_cast<int>(piece), element.type(), operation,
                                 group.comm, &request),
                  "MPI_Iallreduce");
    // MPI may still need the operation where this throws.
    group.complete(request, "a reduction", copy);
    std::copy(copy->begin(), copy->end(), begin + at * bytes);
  }
  MPI_Op_free(&operation);
}

template <class T> void Communicator::all_reduce(std::span<T> values, Reduction reduction) const {
  const MPI_Op operation = operation_of(reduction);
  if (size() > 1) impl::all_reduce_in_pieces(values, type_of<T>(), operation, state_->group());
}

template void Communicator::all_reduce<double>(std::span<double>, Reduction) const;
template void Communicator::all_reduce<float>(std::span<float>, Reduction) const;
template void Communicator::all_reduce<int>(std::span<int>, Reduction) const;
template void Communicator::all_reduce<Index>(std::span<Index>, Reduction) const;

std::vector<std::size_t> Communicator::exchange_sizes(const std::vector<std::span<const std::byte>>& out) const {
  struct Sizes {
    std::vector<Index> mine;
    std::vector<Index> theirs;
  };
  const impl::Group group = state_->group();
  const auto sizes = std::make_shared<Sizes>();
  for (const std::span<const std::byte>& message : out) sizes->mine.push_back(static_cast<Index>(message.size()));
  sizes->theirs.resize(out.size());
  MPI_Request request = MPI_REQUEST_NULL;
  impl::checked(
      MPI_Ialltoall(sizes->mine.data(), 1, MPI_INT64_T, sizes->theirs.data(), 1, MPI_INT64_T, group.comm, &request),
      "MPI_Ialltoall");
  group.complete(request, "an exchange", sizes);
  return {sizes->theirs.begin(), sizes->theirs.end()};
}

void Communicator::exchange_bytes(const std::vector<std::span<const std::byte>>& out,
                                  const std::vector<std::span<std::byte>>& in, std::any kept) const {
  impl::exchange_in_pieces(out, in, impl::tag_exchange, state_->group(), std::move(kept));
}

namespace {

// Exception of `work` as an Error; nothing if it throws nothing. Errors that the library did not foresee (no memory, a
// kernel that did not start) name the rank, so that all ranks learn it.
std::optional<Error> error_of(const Communicator& comm, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  } catch (...) {
    const Error error = impl::current_error();
    return comm.size() == 1 ? error : Error(error.kind(), message_of("rank ", comm.rank(), ": ", error.what()));
  }
  return std::nullopt;
}

}  // namespace

void Communicator::refuse(const std::string& message) const {
  together([&] { require(false, message); });
  throw Error(ErrorKind::argument, message);  // Not reached: together() passes the error on.
}

Communicator::Scope::Scope(const Communicator& comm) : comm_(comm) {
  if (comm.state_->failures) comm.state_->failures->enter();
}

Communicator::Scope::~Scope() {
  if (comm_.state_->failures) comm_.state_->failures->leave();
}

void Communicator::Scope::fail() const {
  if (comm_.state_->failures) comm_.state_->failures->fail();
  throw impl::current_error();
}

void Communicator::on_rank(int root, const std::function<void()>& work) const {
  rethrow_from(root, rank() == root ? error_of(*this, work) : std::nullopt);
}

void Communicator::on_each(const std::function<void()>& work) const {
  const std::optional<Error> error = error_of(*this, work);
  const int lowest = all_reduce(error ? rank() : size(), Reduction::minimum);
  if (lowest < size()) rethrow_from(lowest, error);
}

void Communicator::rethrow_from(int root, const std::optional<Error>& error) const {
  int kind = error && rank() == root ? static_cast<int>(error->kind()) : -1;
  broadcast(std::span<int>(&kind, 1), root);
  if (kind >= 0) {
    std::string message = error && rank() == root ? error->what() : "";
    broadcast(message, root);
    throw Error(static_cast<ErrorKind>(kind), message);
  }
}

Transport Communicator::transport() const {
  if (!state_->transport) {
    together([&] { state_->transport = impl::choose_transport(*this); });
  }
  return Transport(state_->transport);
}

impl::Ranks impl::ranks_of(const Communicator& comm) {
  const Communicator::State& state = *comm.state_;
  return {state.comm, state.rank, state.size, state.space, state.failures, state.node_of};
}

Transport transport_of(const Communicator& comm) {
  return comm.transport();
}

void Communicator::abort(int exit_code) const {
  abort_job(state_->comm, exit_code);
}

void abort_job(MPI_Comm comm, int exit_code) {
  try {
    std::thread([exit_code] {
      std::this_thread::sleep_for(std::chrono::seconds(3));
      std::_Exit(exit_code);
    }).detach();
  } catch (...) {  // NOLINT(bugprone-empty-catch)
    // Without another thread it is MPI alone that ends this rank.
  }
  // Open MPI's own daemon may wait for the one of a lost host, and this call for the daemon.
  MPI_Abort(comm, exit_code);
  std::_Exit(exit_code);
}

}  // namespace heddle
