// Tests of shared storage.
#include "core/memory/shared_storage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace heddle::impl::shared_storage_test {
namespace {

struct Shape {
  Index first;
  Index bytes;
  Storage::Three extent;
  Storage::Three stride;
};

Storage storage(const Shape& shape, const char* memory) {
  return {memory + shape.first, shape.bytes, shape.extent, shape.stride};
}

// Byte by byte.
bool share_plainly(const Shape& one, const Shape& other) {
  std::vector<bool> taken(4096, false);
  const auto for_each = [](const Shape& shape, const auto& body) {
    const auto& [rows, columns, layers] = shape.extent;
    for (Index e = 0; e < rows * columns * layers; ++e) {
      const Index element =
          e % rows * shape.stride[0] + e / rows % columns * shape.stride[1] + e / (rows * columns) * shape.stride[2];
      for (Index b = 0; b < shape.bytes; ++b) body(static_cast<std::size_t>(shape.first + element * shape.bytes + b));
    }
  };
  for_each(one, [&](std::size_t at) { taken[at] = true; });
  bool found = false;
  for_each(other, [&](std::size_t at) { found = found || taken[at]; });
  return found;
}

TEST(SharedStorage, IsFoundExactly) {
  std::mt19937_64 bits(7);
  const std::vector<char> memory(4096);
  int shared = 0;
  int between = 0;
  for (int trial = 0; trial < 60000; ++trial) {
    const auto any = [&](Index most) { return static_cast<Index>(bits() % static_cast<std::uint64_t>(most + 1)); };
    const auto shape = [&] {
      const Index layers = trial % 3 == 0 ? 1 : 1 + any(3);
      return Shape{any(60), Index{1} << any(3), {any(6), any(6), layers}, {any(9), any(20), any(40)}};
    };
    Shape one = shape();
    Shape other = shape();
    // Often parts of one array.
    if (trial % 2 == 0) {
      other.stride = one.stride;
      other.bytes = one.bytes;
    }
    if (trial % 6 == 1) std::swap(other.stride[0], other.stride[1]);
    if (trial % 6 == 4) std::swap(other.stride[1], other.stride[2]);
    const bool expected = share_plainly(one, other);
    ASSERT_EQ(share(storage(one, memory.data()), storage(other, memory.data())), expected) << trial;
    ASSERT_EQ(share(storage(other, memory.data()), storage(one, memory.data())), expected) << trial;
    shared += expected ? 1 : 0;
    between += expected ? 0 : 1;
  }
  EXPECT_GT(shared, 10000);
  EXPECT_GT(between, 10000);
}

TEST(SharedStorage, OfViews) {
  const Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> whole("heddle::test::whole", 10, 8);
  using Pair = std::pair<std::size_t, std::size_t>;
  const auto part = [&](Pair rows, Pair columns) { return Kokkos::subview(whole, rows, columns); };
  EXPECT_TRUE(share_storage(whole, whole));
  EXPECT_FALSE(share_storage(part({0, 10}, {0, 4}), part({0, 10}, {4, 8})));
  EXPECT_TRUE(share_storage(part({0, 10}, {0, 5}), part({0, 10}, {4, 8})));
  EXPECT_FALSE(share_storage(part({0, 5}, {0, 8}), part({5, 10}, {0, 8})));
  EXPECT_TRUE(share_storage(part({0, 6}, {0, 8}), part({5, 10}, {0, 8})));
  EXPECT_FALSE(share_storage(part({0, 5}, {2, 6}), part({6, 9}, {0, 8})));
  EXPECT_FALSE(share_storage(part({0, 0}, {0, 8}), whole));
  // Columns that take turns, and a row of which one element is a column's.
  using Strided = Kokkos::View<double**, Kokkos::LayoutStride, Kokkos::HostSpace>;
  const auto turns = [&](std::size_t first) {
    return Strided(whole.data() + 10 * first, Kokkos::LayoutStride(10, 1, 4, 20));
  };
  EXPECT_FALSE(share_storage(turns(0), turns(1)));
  EXPECT_TRUE(share_storage(turns(0), turns(2)));
  EXPECT_TRUE(share_storage(Kokkos::subview(whole, 3, Kokkos::ALL), Kokkos::subview(whole, Kokkos::ALL, 2)));
  EXPECT_FALSE(share_storage(Kokkos::subview(whole, 3, Kokkos::ALL), Kokkos::subview(whole, 4, Kokkos::ALL)));
  // Rows of all matrices of a batch, and layers.
  const Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace> batch("heddle::test::batch", 3, 4, 5);
  const auto row = [&](std::size_t i) { return Kokkos::subview(batch, Kokkos::ALL, Pair(i, i + 1), Kokkos::ALL); };
  EXPECT_FALSE(share_storage(row(0), row(1)));
  EXPECT_TRUE(share_storage(row(1), row(1)));
  EXPECT_TRUE(share_storage(row(1), Kokkos::subview(batch, 2, Kokkos::ALL, Kokkos::ALL)));
}

}  // namespace
}  // namespace heddle::impl::shared_storage_test
