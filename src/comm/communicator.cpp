#include "comm/mpi_pieces.hpp"
#include "comm/tags.hpp"
#include "comm/transports.hpp"
#include <heddle/comm/communicator.hpp>

#include <cstdlib>
#include <optional>

namespace heddle {

struct Communicator::State {
  explicit State(const ExecutionSpace& instance) : space(instance) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    transport.reset();
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) {
      MPI_Comm_free(&comm);
    }
  }

  ExecutionSpace space;
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  int node_rank = 0;
  int node_size = 1;
  mutable std::shared_ptr<Transport::Implementation> transport;  // Made when it is first asked for.
};

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
  auto state = std::make_shared<State>(space);
  MPI_Comm_dup(parent, &state->comm);
  MPI_Comm_rank(state->comm, &state->rank);
  MPI_Comm_size(state->comm, &state->size);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(state->comm, MPI_COMM_TYPE_SHARED, state->rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &state->node_rank);
  MPI_Comm_size(node, &state->node_size);
  MPI_Comm_free(&node);
  state_ = std::move(state);
}

int Communicator::rank() const noexcept {
  return state_->rank;
}
int Communicator::size() const noexcept {
  return state_->size;
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
  MPI_Barrier(state_->comm);
}

void Communicator::broadcast_bytes(void* data, std::size_t bytes, int root) const {
  require(root >= 0 && root < size(), "broadcast: root ", root, " is not one of ", size(), " ranks");
  impl::broadcast_in_pieces(data, bytes, root, state_->comm);
}

void Communicator::broadcast(std::string& text, int root) const {
  Index length = static_cast<Index>(text.size());
  broadcast(std::span<Index>(&length, 1), root);
  text.resize(static_cast<std::size_t>(length));
  broadcast_bytes(text.data(), text.size(), root);
}

void Communicator::all_gather_bytes(const void* mine, std::size_t bytes, void* all) const {
  impl::all_gather_in_pieces(mine, bytes, all, state_->comm);
}

void Communicator::all_reduce_bytes(void* data, std::size_t count, std::size_t bytes,
                                    MPI_User_function* combine) const {
  const impl::MpiElement element(bytes);
  MPI_Op operation = MPI_OP_NULL;
  MPI_Op_create(combine, 1, &operation);
  MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(count), element.type(), operation, state_->comm);
  MPI_Op_free(&operation);
}

template <class T> void Communicator::all_reduce(std::span<T> values, Reduction reduction) const {
  impl::all_reduce_in_pieces(values, type_of<T>(), operation_of(reduction), state_->comm);
}

template void Communicator::all_reduce<double>(std::span<double>, Reduction) const;
template void Communicator::all_reduce<float>(std::span<float>, Reduction) const;
template void Communicator::all_reduce<int>(std::span<int>, Reduction) const;
template void Communicator::all_reduce<Index>(std::span<Index>, Reduction) const;

std::vector<std::size_t> Communicator::exchange_sizes(const std::vector<std::span<const std::byte>>& out) const {
  std::vector<Index> mine;
  mine.reserve(out.size());
  for (const std::span<const std::byte>& message : out) mine.push_back(static_cast<Index>(message.size()));
  std::vector<Index> theirs(mine.size());
  MPI_Alltoall(mine.data(), 1, MPI_INT64_T, theirs.data(), 1, MPI_INT64_T, state_->comm);
  return {theirs.begin(), theirs.end()};
}

void Communicator::exchange_bytes(const std::vector<std::span<const std::byte>>& out,
                                  const std::vector<std::span<std::byte>>& in) const {
  impl::exchange_in_pieces(out, in, impl::tag_exchange, state_->comm);
}

namespace {

// What `work` throws, as an Error; nothing where it throws nothing.
std::optional<Error> error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {
    return Error(ErrorKind::computation, error.what());
  }
  return std::nullopt;
}

}  // namespace

void Communicator::on_rank(int root, const std::function<void()>& work) const {
  rethrow_from(root, rank() == root ? error_of(work) : std::nullopt);
}

void Communicator::on_each(const std::function<void()>& work) const {
  const std::optional<Error> error = error_of(work);
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
    state_->transport = impl::choose_transport(*this);
  }
  return Transport(state_->transport);
}

Transport transport_of(const Communicator& comm) {
  return comm.transport();
}

void Communicator::abort(int exit_code) const {
  MPI_Abort(state_->comm, exit_code);
  std::abort();
}

}  // namespace heddle
