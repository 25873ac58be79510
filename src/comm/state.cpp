// State that the copies of a communicator share.
#include "comm/state.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace heddle {
namespace {

// The value of a variable of the environment; 0 where it is not set, and -1 for what is no finite number above 0.
template <class Number> Number number_asked(const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr) return 0;
  const std::string_view text(value);
  Number number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && stop == text.data() + text.size();
  return whole && std::isfinite(static_cast<double>(number)) && number > 0 ? number : -1;
}

// The ranks of `comm` that share this one's node.
MPI_Comm ranks_of_node(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  // Ranks may differ in their environment.
  const int mine = number_asked<int>("HEDDLE_NODE_SIZE");
  int sizes[2] = {mine, -mine};
  MPI_Allreduce(MPI_IN_PLACE, sizes, 2, MPI_INT, MPI_MIN, comm);
  require(sizes[0] >= 0 && sizes[0] == -sizes[1],
          "HEDDLE_NODE_SIZE: expected the number of ranks that stand for a node, the same on all ranks");
  MPI_Comm node = MPI_COMM_NULL;
  if (sizes[0] > 0) {
    int of_job = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &of_job);
    MPI_Comm_split(comm, of_job / sizes[0], rank, &node);
  } else {
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  }
  return node;
}

// HEDDLE_TIMEOUT in seconds, 0 for none: the least of all ranks, whose environments may differ: some may have it set
// and others not.
double timeout_of_all(MPI_Comm comm) {
  const auto mine = number_asked<double>("HEDDLE_TIMEOUT");
  std::array<double, 2> least{mine, mine > 0.0 ? mine : HUGE_VAL};
  impl::checked(MPI_Allreduce(MPI_IN_PLACE, least.data(), 2, MPI_DOUBLE, MPI_MIN, comm), "MPI_Allreduce");
  require(least[0] >= 0.0, "HEDDLE_TIMEOUT: expected a number of seconds above 0");
  return std::isinf(least[1]) ? 0.0 : least[1];
}

}  // namespace

Communicator::State::State(MPI_Comm parent, const ExecutionSpace& instance) : space(instance) {
  comm = impl::duplicate_of(parent, nullptr);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm node = ranks_of_node(comm);
  MPI_Comm_rank(node, &node_rank);
  MPI_Comm_size(node, &node_size);
  // A node is identified by its lowest rank.
  int lowest = rank;
  impl::checked(MPI_Bcast(&lowest, 1, MPI_INT, 0, node), "MPI_Bcast");
  MPI_Comm_free(&node);
  node_of.resize(static_cast<std::size_t>(size));
  impl::checked(MPI_Allgather(&lowest, 1, MPI_INT, node_of.data(), 1, MPI_INT, comm), "MPI_Allgather");
  std::vector<int> firsts = node_of;
  std::sort(firsts.begin(), firsts.end());
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  nodes = static_cast<int>(firsts.size());
  for (int& of_rank : node_of) {
    of_rank = static_cast<int>(std::lower_bound(firsts.begin(), firsts.end(), of_rank) - firsts.begin());
  }
  const double timeout = timeout_of_all(comm);
  if (size > 1) {
    failures = std::make_shared<impl::Failures>(comm, timeout);
    failures->set_owner(this);
  }
}

Communicator::State::~State() {
  transport.reset();
  if (failures) failures->set_owner(nullptr);
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Comm_free(&comm);
}

void Communicator::State::start_afresh(MPI_Comm fresh) {
  transport.reset();
  // The old communicator is not freed: calls that were cut short are under way on it.
  comm = fresh;
}

}  // namespace heddle
