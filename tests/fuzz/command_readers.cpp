// Fuzzing targets for the command's readers.
#include "attempt.hpp"
#include "drivers/search/duplicates_text.hpp"
#include "drivers/tdse/deck/deck.hpp"

#include <array>
#include <fstream>
#include <iterator>

namespace heddle::test {

namespace {

using std::filesystem::path;

// A deck, resolved, reads as the same deck.
void read_deck_file(const path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  done(file, [&] {
    const driver::Deck deck = driver::read_deck(text, file, {});
    const std::string resolved = driver::resolved_text(deck);
    try {
      const auto difference = driver::first_difference(deck, driver::read_deck(resolved, file, {}));
      if (difference) fail("a resolved deck reads as another one: " + *difference);
    } catch (const Error& error) {
      fail(std::string("a resolved deck is refused: ") + error.what());
    }
  });
}

void read_keys_file(const path& file) {
  done(file, [&] {
    const driver::KeyTable table = driver::read_keys(file);
    expect(table.words >= 1, "keys have no words");
    expect(table.values.size() % static_cast<std::size_t>(table.words) == 0, "the last key lacks words");
  });
}

}  // namespace

std::span<const Reader> command_readers() {
  static constexpr std::array readers = {
      Reader{"deck", ".toml", read_deck_file},
      Reader{"keys", ".keys", read_keys_file},
  };
  return readers;
}

}  // namespace heddle::test
