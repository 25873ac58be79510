// How operations of this room begin: arguments judged, on every rank alike.
#pragma once

#include "solve/factorization.hpp"

#include <utility>
#include <vector>

namespace heddle::impl {

/// Both placements among the arguments of a function that are compared over the ranks.
inline std::vector<Argument> and_placements(std::vector<Argument> arguments, const Placement& one,
                                            const Placement& other) {
  arguments.push_back(argument("the matrix", one));
  arguments.push_back(argument("the right-hand sides", other));
  return arguments;
}

/// work() once `arguments` are the same on all ranks and check() has nothing against them; what is thrown is thrown on
/// every rank. Collective.
template <class Check, class Work>
auto over_ranks(const Communicator& comm, const char* of, const std::vector<Argument>& arguments, const Check& check,
                const Work& work) {
  return comm.together([&] {
    require_alike(comm, of, arguments, check);
    return work();
  });
}

}  // namespace heddle::impl
