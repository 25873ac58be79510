// Rounds and collisions of Hash-Fight beside a count by the published rule.
#include "search/duplicates/hash_fight.hpp"

#include "search/oracle.hpp"
#include <heddle/search/duplicates.hpp>
#include <heddle/search/grid.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <unordered_map>

namespace heddle::search::hash_fight_test {
namespace {

using Side = std::array<std::uint32_t, 3>;

std::uint32_t morton_code(std::uint32_t x) {
  std::uint32_t code = 0;
  for (unsigned bit = 0; bit < 30; ++bit) code |= (x >> bit & 1) << (3 * (bit % 10) + bit / 10);
  return code;
}
// splitmix64, whose state takes up a word before each step.
std::uint32_t mixed(const Side& side) {
  std::uint64_t z = 0;
  for (const std::uint32_t x : side) {
    z += x + 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    z ^= z >> 31;
  }
  return static_cast<std::uint32_t>(z >> 32);
}
std::uint32_t hash_of(const Side& side, HashFunction function) {
  const auto [a, b, c] = side;
  switch (function) {
    case HashFunction::exclusive_or:
      return a ^ b ^ c;
    case HashFunction::fnv1a:
      return (((2166136261U ^ a) * 16777619U ^ b) * 16777619U ^ c) * 16777619U;
    case HashFunction::morton:
      return morton_code(a) + morton_code(b) + morton_code(c);
    default:
      return mixed(side);
  }
}

struct Fight {
  Index collisions = 0;
  int rounds = 0;
};
/// Each round has a table of twice the sides that are active in it, where a side's place is its hash modulo the size
/// of the table. The last to write a place wins it, and sides that equal it leave with it.
Fight published_fight(const std::vector<Side>& sides, HashFunction function) {
  Fight fight;
  std::vector<Side> active = sides;
  while (!active.empty()) {
    const std::uint64_t places = 2 * static_cast<std::uint64_t>(active.size());
    std::unordered_map<std::uint64_t, Side> table;
    for (const Side& side : active) table[hash_of(side, function) % places] = side;
    std::vector<Side> losers;
    for (const Side& side : active) {
      if (table.at(hash_of(side, function) % places) != side) losers.push_back(side);
    }
    fight.collisions += static_cast<Index>(losers.size());
    ++fight.rounds;
    active = std::move(losers);
  }
  return fight;
}

std::vector<Side> sides_of_tetrahedra(const Mesh<std::int32_t>& mesh) {
  const auto points = host_vector(mesh.points);
  std::vector<Side> sides;
  for (std::size_t cell = 0; cell < points.size(); cell += 4) {
    for (const auto& corners : sides_in_vtk(CellKind::tetrahedron)) {
      Side side{};
      for (std::size_t k = 0; k < 3; ++k) {
        side[k] = static_cast<std::uint32_t>(points[cell + static_cast<std::size_t>(corners[k])]);
      }
      std::sort(side.begin(), side.end());
      sides.push_back(side);
    }
  }
  return sides;
}
Kokkos::View<const std::uint32_t**, Kokkos::LayoutRight, MemorySpace> keys_of(const std::vector<Side>& sides) {
  const Kokkos::View<std::uint32_t**, Kokkos::LayoutRight, MemorySpace> keys("heddle::test", sides.size(), 3);
  Kokkos::deep_copy(keys, Kokkos::View<const std::uint32_t**, Kokkos::LayoutRight, Kokkos::HostSpace>(
                              sides.front().data(), sides.size(), 3));
  return keys;
}

// On one thread the last side in order wins. On several threads the winner varies and decides the sides of later
// rounds: collisions change little, but the last few sides may take some rounds more or fewer.
void expect_fight(const SearchReport& report, const Fight& expected) {
  if (ExecutionSpace().concurrency() == 1) {
    EXPECT_EQ(report.collisions, expected.collisions);
    EXPECT_EQ(report.iterations, expected.rounds);
  } else {
    EXPECT_NEAR(static_cast<double>(report.collisions), static_cast<double>(expected.collisions),
                0.1 * static_cast<double>(expected.collisions));
    EXPECT_GE(2 * report.iterations, expected.rounds);
    EXPECT_LE(report.iterations, 2 * expected.rounds);
  }
}

TEST(HashFight, HasThePublishedRoundsAndCollisions) {
  for (const bool randomised : {false, true}) {
    const auto mesh = tetrahedra_of<std::int32_t>(ExecutionSpace(), {30, 30, 30}, {5, randomised, 1});
    const std::vector<Side> sides = sides_of_tetrahedra(mesh);
    const auto keys = keys_of(sides);
    for (const HashFunction hash :
         {HashFunction::exclusive_or, HashFunction::fnv1a, HashFunction::morton, HashFunction::mixer}) {
      SCOPED_TRACE(std::string(to_string(hash)) + (randomised ? ", randomised" : ", regular"));
      const SearchOptions options{.algorithm = Algorithm::hash_fight, .hash = hash};
      const Fight expected = published_fight(sides, hash);
      expect_fight(external_faces(ExecutionSpace(), mesh, {.search = options}).report.search, expected);
      expect_fight(find_duplicates(ExecutionSpace(), keys, options).report, expected);
    }
  }
}

TEST(HashFight, PlacesAreHashesModuloTwiceTheKeys) {
  std::mt19937_64 random(1);
  std::vector<Index> counts = {(Index{1} << 32) - 16, Index{1} << 34};
  for (int bit = 0; bit < 32; ++bit) {
    for (const Index by : {-1, 0, 1}) counts.push_back(std::max(Index{1}, (Index{1} << bit) + by));
    for (int k = 0; k < 20; ++k) counts.push_back(1 + static_cast<Index>(random() >> (63 - bit)));
  }
  for (const Index active : counts) {
    const impl::TablePlaces place(active);
    const std::uint64_t places = 2 * static_cast<std::uint64_t>(active);
    std::vector<std::uint64_t> hashes = {0, 0xFFFFFFFF};
    for (int k = 0; k < 50; ++k) {
      // Around a multiple of the divisor, the largest of all among them.
      const std::uint64_t multiple = (k == 0 ? 0xFFFFFFFF : random() >> 32) / places * places;
      for (const std::uint64_t near : {multiple - 1, multiple, multiple + 1, random()}) {
        hashes.push_back(near & 0xFFFFFFFF);
      }
    }
    for (const std::uint64_t hash : hashes) {
      ASSERT_EQ(place(static_cast<std::uint32_t>(hash)), static_cast<Index>(hash % places))
          << hash << " modulo " << places;
    }
  }
}

}  // namespace
}  // namespace heddle::search::hash_fight_test
