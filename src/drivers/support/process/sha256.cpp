// SHA-256 (FIPS 180-4), for naming results by their bits.
#include "drivers/support/process/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

namespace heddle::driver {
namespace {

// FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
std::array<std::uint32_t, 64> make_constants() {
  std::array<std::uint32_t, 64> constants{};
  std::size_t count = 0;
  for (std::uint64_t candidate = 2; count < constants.size(); ++candidate) {
    bool prime = true;
    for (std::uint64_t divisor = 2; divisor * divisor <= candidate; ++divisor) {
      prime = prime && candidate % divisor != 0;
    }
    if (!prime) continue;
    // The integer cube root of candidate 2^96, by bits: it needs 35 of them.
    std::uint64_t root = 0;
    for (int bit = 35; bit >= 0; --bit) {
      const std::uint64_t next = root | (std::uint64_t{1} << bit);
      // next^3 <= candidate 2^96, as long double cannot tell: in two words of 64 bits.
      __extension__ typedef unsigned __int128 Wide;  // NOLINT(modernize-use-using): what compilers agree on
      const Wide square = static_cast<Wide>(next) * next;
      const Wide limit = (static_cast<Wide>(candidate) << 96) / next;
      if (square <= limit) root = next;
    }
    constants[count++] = static_cast<std::uint32_t>(root);
  }
  return constants;
}

}  // namespace

void Sha256::add(const void* data, std::size_t bytes) {
  const auto* from = static_cast<const std::uint8_t*>(data);
  while (bytes > 0) {
    const std::size_t held = bytes_ % pending_.size();
    const std::size_t taken = std::min(bytes, pending_.size() - held);
    std::copy_n(from, taken, pending_.begin() + static_cast<std::ptrdiff_t>(held));
    bytes_ += taken;
    from += taken;
    bytes -= taken;
    if (held + taken == pending_.size()) take_block(pending_.data());
  }
}

void Sha256::add_reversed(const void* words, std::size_t word, std::size_t count) {
  const auto* from = static_cast<const std::uint8_t*>(words);
  for (std::size_t k = 0; k < count; ++k, from += word) {
    for (std::size_t byte = word; byte > 0; --byte) add(from + byte - 1, 1);
  }
}

std::string Sha256::digest() const {
  Sha256 ended = *this;
  ended.finish();
  std::string text;
  for (const std::uint32_t word : ended.state_) {
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", word);
    text += digits.data();
  }
  return text;
}

void Sha256::finish() {
  const std::uint64_t bits = 8 * bytes_;
  const std::uint8_t one = 0x80;
  const std::uint8_t zero = 0;
  add(&one, 1);
  while (bytes_ % pending_.size() != 56) add(&zero, 1);
  for (int byte = 7; byte >= 0; --byte) {
    const auto part = static_cast<std::uint8_t>(bits >> (8 * byte));
    add(&part, 1);
  }
}

void Sha256::take_block(const std::uint8_t* block) {
  static const std::array<std::uint32_t, 64> constants = make_constants();
  std::array<std::uint32_t, 64> words{};
  for (std::size_t k = 0; k < 16; ++k) {
    words[k] = std::uint32_t{block[4 * k]} << 24 | std::uint32_t{block[4 * k + 1]} << 16 |
               std::uint32_t{block[4 * k + 2]} << 8 | std::uint32_t{block[4 * k + 3]};
  }
  for (std::size_t k = 16; k < 64; ++k) {
    const std::uint32_t x = words[k - 15];
    const std::uint32_t y = words[k - 2];
    words[k] = words[k - 16] + (std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3) + words[k - 7] +
               (std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t k = 0; k < 64; ++k) {
    const std::uint32_t first =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + constants[k] + words[k];
    const std::uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<std::uint32_t, 8> added = {a, b, c, d, e, f, g, h};
  for (std::size_t k = 0; k < state_.size(); ++k) state_[k] += added[k];
}

}  // namespace heddle::driver
