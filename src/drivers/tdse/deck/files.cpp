// Files that a deck names: reads a potential's table, finds initial.file, and checks where outputs are.
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

// Return true if `path` begins in the working directory and `..` never leaves it.
bool stays_below(const std::filesystem::path& path) {
  if (path.is_absolute()) return false;
  int depth = 0;
  for (const auto& part : path) {
    if (part == "..") {
      --depth;
    } else if (part != "." && !part.empty()) {
      ++depth;
    }
    if (depth < 0) return false;
  }
  return true;
}

void require_below(const char* key, const std::string& file, const std::string& place,
                   const std::filesystem::path& restart) {
  if (place.empty() || file.empty() || stays_below(file)) return;
  std::error_code error;
  const auto folder_of = [&](const std::filesystem::path& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path), error).parent_path();
  };
  if (!restart.empty() && folder_of(file) == folder_of(restart)) return;
  throw Error(ErrorKind::input, message_of(place, ": ", key, " = '", file,
                                           "' is not below the working directory; to write there, give it on the "
                                           "command line: --set ",
                                           key, "=PATH"));
}

}  // namespace

void require_outputs_below(const Deck& deck, const std::filesystem::path& restart) {
  require_below("output.file", deck.output_file, deck.output_file_place, restart);
  require_below("output.table", deck.output_table, deck.output_table_place, restart);
}

void read_files(const Communicator& comm, Deck& deck) {
  read_potential(comm, deck);
  if (deck.initial == InitialKind::file) deck.initial_file = (deck.initial_folder / deck.initial_file).string();
}

}  // namespace heddle::driver
