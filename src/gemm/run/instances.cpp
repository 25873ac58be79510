// Execution space instances of one product, and their ordering by fork and join.
#include "gemm/run/instances.hpp"

#include "core/elementwise.hpp"
#include <heddle/comm/event.hpp>

namespace heddle::impl {

Instances make_instances(const ExecutionSpace& space, MathMode math) {
  if constexpr (on_host) {
    return {{blas::Context(space, math)}, space, space};
  } else {
    const int lanes = blas::runs_side_by_side() ? 2 : 1;
    const auto own =
        Kokkos::Experimental::partition_space(space, std::vector<int>(static_cast<std::size_t>(lanes) + 2, 1));
    Instances instances{{}, own[own.size() - 2], own[own.size() - 1]};
    for (int lane = 0; lane < lanes; ++lane) {
      instances.lanes.emplace_back(own[static_cast<std::size_t>(lane)], math);
    }
    return instances;
  }
}

void fork(const ExecutionSpace& space, const Instances& instances) {
  const Event event = Event::on(space);
  for (const blas::Context& lane : instances.lanes) {
    event.before(lane.space());
  }
  event.before(instances.assembly);
  event.before(instances.home);
}

void join(const Instances& instances, const ExecutionSpace& space) {
  for (const blas::Context& lane : instances.lanes) {
    Event::on(lane.space()).before(space);
  }
  Event::on(instances.assembly).before(space);
  Event::on(instances.home).before(space);
}

}  // namespace heddle::impl
