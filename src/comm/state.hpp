// State that the copies of a Communicator share.
#pragma once

#include "comm/failures/group.hpp"
#include "comm/transports/transports.hpp"
#include <heddle/comm/communicator.hpp>

#include <memory>
#include <vector>

namespace heddle {

struct Communicator::State final : impl::Failures::Owner {
  /// Collective.
  State(MPI_Comm parent, const ExecutionSpace& instance);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void start_afresh(MPI_Comm fresh) override;
  /// Ranks of a collective call that is to begin. Throws if they can't work together any more.
  [[nodiscard]] impl::Group group() const {
    if (failures) failures->require_usable();
    return {comm, failures.get()};
  }

  ExecutionSpace space;
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  int node_rank = 0;
  int node_size = 1;
  int nodes = 1;
  std::vector<int> node_of;                              // By rank.
  std::shared_ptr<impl::Failures> failures;              // Null where there is one rank.
  std::shared_ptr<Transport::Implementation> transport;  // Made when it is first asked for.
};

}  // namespace heddle
