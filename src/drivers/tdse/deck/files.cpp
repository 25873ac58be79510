// Files that a deck names: reads a potential's table and finds initial.file.
#include "drivers/tdse/deck/files.hpp"

#include "drivers/tdse/record/text_files.hpp"
#include <heddle/core/error.hpp>

#include <span>

namespace heddle::driver {

namespace {

void read_potential(const Communicator& comm, Deck& deck) {
  if (deck.potential.kind != schrodinger::PotentialKind::table) return;
  const auto path = deck.potential_folder / deck.potential_file;
  auto& x = deck.potential.table_x;
  auto& v = deck.potential.table_v;
  comm.on_rank(0, [&] {
    for (const auto& row : read_columns(path, 2, 2, "two columns, x and V")) {
      x.push_back(row[0]);
      v.push_back(row[1]);
    }
    try {
      validate(deck.grid, deck.potential, deck.nuclei);
    } catch (const Error& error) {
      throw Error(ErrorKind::input, path.string() + ": " + error.what());
    }
  });
  auto size = static_cast<Index>(x.size());
  comm.broadcast(std::span(&size, 1), 0);
  x.resize(static_cast<std::size_t>(size));
  v.resize(static_cast<std::size_t>(size));
  comm.broadcast(std::span(x), 0);
  comm.broadcast(std::span(v), 0);
}

}  // namespace

void read_files(const Communicator& comm, Deck& deck) {
  read_potential(comm, deck);
  if (deck.initial == InitialKind::file) deck.initial_file = (deck.initial_folder / deck.initial_file).string();
}

}  // namespace heddle::driver
