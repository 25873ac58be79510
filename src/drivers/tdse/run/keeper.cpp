// Writing of a run's files on a background thread.
#include "drivers/tdse/run/keeper.hpp"

#include "drivers/support/process/clock.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>

#include <algorithm>
#include <utility>

namespace heddle::driver {

namespace {

// Largest number of steps that may wait while a file is written; at 16384 points each takes a quarter of a megabyte.
constexpr std::size_t most_waiting = 64;

bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace

Keeper::Keeper(const Communicator& comm, const Deck& deck, const schrodinger::Hamiltonian& hamiltonian, bool force)
    : comm_(comm), deck_(deck), hamiltonian_(hamiltonian), path_(deck.output_file) {
  // Fail before the computation if a folder is not writable.
  comm_.on_rank(0, [&] {
    const PendingFile probe(path_);
    if (!deck_.output_table.empty()) const PendingFile table(deck_.output_table);
    may_replace_file_ = force || is_there(path_);
    may_replace_table_ = force || is_there(deck_.output_table);
  });
}

void Keeper::begin(Record record) {
  if (comm_.rank() != 0) return;
  record_ = std::move(record);
  last_ = std::chrono::steady_clock::now();
  writer_.emplace(most_waiting);
}

void Keeper::add(const std::function<Snapshot()>& take) {
  comm_.on_rank(0, [&] { writer_->push([this, snapshot = take()] { append(snapshot); }); });
}

void Keeper::finish() {
  comm_.on_rank(0, [&] {
    writer_->push([this] {
      require_replaceable(path_, may_replace_file_);
      if (!deck_.output_table.empty()) require_replaceable(deck_.output_table, may_replace_table_);
      write(path_, true);
      if (!deck_.output_table.empty()) write_table(deck_.output_table, deck_, record_);
      std::error_code ignored;
      std::filesystem::remove(partial_path(path_), ignored);
    });
    writer_->finish();
  });
}

void Keeper::interrupt() {
  comm_.on_rank(0, [&] {
    writer_->push([this] { write(partial_path(path_), false); });
    writer_->finish();
  });
}

void Keeper::append(const Snapshot& snapshot) {
  record_.append(deck_, snapshot);
  const Index done = record_.steps_done();
  if (done == deck_.time_steps) return;
  const bool by_steps = deck_.output_checkpoint_steps > 0 && done > 0 && done % deck_.output_checkpoint_steps == 0;
  // A large record takes long to write: by the clock, at most a twentieth of the time goes to writing.
  if (!by_steps && seconds_since(last_) < std::max(deck_.output_checkpoint_seconds, 20 * last_seconds_)) return;
  write(partial_path(path_), false);
  last_ = std::chrono::steady_clock::now();
}

void Keeper::require_replaceable(const std::filesystem::path& path, bool may_replace) {
  if (may_replace || !is_there(path)) return;
  const std::filesystem::path partial = partial_path(path_);
  write(partial, false);
  throw Error(ErrorKind::output, message_of(path.string(), ": was not there when the run began, and is not replaced; ",
                                            "the run is in ", partial.string()));
}

void Keeper::write(const std::filesystem::path& path, bool complete) {
  const auto start = std::chrono::steady_clock::now();
  write_record(path, deck_, hamiltonian_, record_, complete);
  last_seconds_ = seconds_since(start);
  seconds_ += last_seconds_;
}

}  // namespace heddle::driver
