// The execution space instances of one product.
#pragma once

#include <heddle/blas/blas.hpp>

#include <vector>

namespace heddle::impl {

/// On GPUs, instances of the plan's own beside the communicator's: `lanes` take the tiles in turn, so that one tile's
/// last wave of thread blocks runs beside the next tile's first; `assembly` puts bands together from their pieces;
/// `home` adds tiles to C. On CPU backends all of them are the communicator's instance.
struct Instances {
  std::vector<blas::Context> lanes;
  ExecutionSpace assembly;
  ExecutionSpace home;
};

/// Products on the lanes are of this math mode.
[[nodiscard]] Instances make_instances(const ExecutionSpace& space, MathMode math = MathMode::automatic);

/// Later work of the instances comes after all work given to `space`, and the reverse.
void fork(const ExecutionSpace& space, const Instances& instances);
void join(const Instances& instances, const ExecutionSpace& space);

}  // namespace heddle::impl
