// Eigenstates computed by a host thread while the device works.
#include "schrodinger/hamiltonian/eigenstates_ahead.hpp"

#include "core/elementwise.hpp"
#include "schrodinger/simulation/stopwatch.hpp"

#include <utility>

namespace heddle::impl {

void EigenstatesAhead::begin(double time) {
  if (begun_ == time || (time_ && !hamiltonian_.moves())) return;
  // With a device always in a thread, begun ahead or not.
  constexpr auto policy = on_host ? std::launch::deferred : std::launch::async;
  under_way_ = std::async(policy, [hamiltonian = hamiltonian_, count = count_, time] {
    Found found;
    {
      const Stopwatch watch(found.seconds);
      found.states = schrodinger::lowest_eigenstates(hamiltonian, time, count);
    }
    return found;
  });
  begun_ = time;
}

bool EigenstatesAhead::advance_to(double time) {
  if (time_ && (time_ == time || !hamiltonian_.moves())) return false;
  begin(time);
  begun_.reset();
  Found found = under_way_.get();
  current_ = std::move(found.states);
  seconds_ += found.seconds;
  time_ = time;
  return true;
}

}  // namespace heddle::impl
