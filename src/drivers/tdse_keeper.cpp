#include "tdse_keeper.hpp"

#include "support/clock.hpp"
#include <heddle/io/pending_file.hpp>

#include <algorithm>
#include <utility>

namespace heddle::driver {

namespace {

using schrodinger::Observables;
using schrodinger::State;

// Steps that may wait while a file is written; 16384 points are a quarter of a megabyte each.
constexpr std::size_t most_waiting = 64;

}  // namespace

Keeper::Keeper(const Communicator& comm, const Deck& deck, const schrodinger::Hamiltonian& hamiltonian,
               double checkpoint_seconds)
    : comm_(comm), deck_(deck), hamiltonian_(hamiltonian), path_(deck.output_file), interval_(checkpoint_seconds) {
  // A folder that can't be written is found out now rather than after the computation.
  comm_.on_rank(0, [&] { const PendingFile probe(path_); });
}

void Keeper::begin(Record record) {
  if (comm_.rank() != 0) return;
  record_ = std::move(record);
  last_ = std::chrono::steady_clock::now();
  writer_.emplace(most_waiting);
}

void Keeper::add(const Observables& seen, const State& state) {
  comm_.on_rank(0, [&] { writer_->push([this, seen, state] { append(seen, state); }); });
}

void Keeper::finish() {
  comm_.on_rank(0, [&] {
    writer_->push([this] {
      write(path_, true);
      std::error_code ignored;
      std::filesystem::remove(partial_path(path_), ignored);
    });
    writer_->finish();
  });
}

void Keeper::append(const Observables& seen, const State& state) {
  record_.append(deck_, seen, state);
  // A large record takes long to write: never more than a twentieth of the time.
  if (seconds_since(last_) < std::max(interval_, 20 * last_seconds_) || record_.steps_done() == deck_.time_steps)
    return;
  write(partial_path(path_), false);
  last_ = std::chrono::steady_clock::now();
}

void Keeper::write(const std::filesystem::path& path, bool complete) {
  const auto start = std::chrono::steady_clock::now();
  write_record(path, deck_, hamiltonian_, record_, complete);
  last_seconds_ = seconds_since(start);
  seconds_ += last_seconds_;
}

}  // namespace heddle::driver
