// Checks of arguments, on every rank alike, at the beginning of operations.
#pragma once

#include "solve/grid/factorization.hpp"

#include <utility>
#include <vector>

namespace heddle::impl {

/// Adds both placements to the arguments of a function that are compared over the ranks.
inline std::vector<Argument> and_placements(std::vector<Argument> arguments, const Placement& one,
                                            const Placement& other) {
  arguments.push_back(argument("the matrix", one));
  arguments.push_back(argument("the right-hand sides", other));
  return arguments;
}

/// Runs work() once `arguments` are the same on all ranks and check() has passed; an exception is thrown on every rank.
/// Collective.
template <class Check, class Work>
auto over_ranks(const Communicator& comm, const char* of, const std::vector<Argument>& arguments, const Check& check,
                const Work& work) {
  return comm.together([&] {
    require_alike(comm, of, arguments, check);
    return work();
  });
}

}  // namespace heddle::impl
