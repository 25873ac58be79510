// More than 2^31 elements: each test takes at most 9 GiB, and is left out where the machine has less to give. Vectors
// of double or complex numbers, or a second matrix, would need twice as much: what depends on the place of an element
// is the same code for every type.
#include "large/available.hpp"
#include "support/matrices.hpp"
#include <heddle/exact/accumulator.hpp>
#include <heddle/exact/matrix.hpp>
#include <heddle/exact/reduce.hpp>
#include <heddle/exact/vector.hpp>
#include <heddle/gemm/gemm.hpp>
#include <heddle/search/duplicates.hpp>
#include <heddle/transpose/transpose.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace heddle::large_test {
namespace {

constexpr Index two_31 = Index{1} << 31;
constexpr Index edge = 46400;
constexpr Index count = edge * edge;
static_assert(count > two_31);

template <class T> using Vector = Kokkos::View<T*, MemorySpace>;
template <class T> using Square = Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace>;

class Large : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::available() < (10LL << 20)) {
      GTEST_SKIP() << "10 GiB of memory are not to be had";
    }
  }
  ExecutionSpace space;
};

// nvcc takes no KOKKOS_LAMBDA in the body of a test: the elements below are functors, of a place.
template <class T, class Element> Vector<T> filled(const ExecutionSpace& space, Index size, const Element& element) {
  const Vector<T> x(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::test::large"),
                    static_cast<std::size_t>(size));
  Kokkos::parallel_for(
      "heddle::test::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, size),
      KOKKOS_LAMBDA(Index k) { x(k) = element(k); });
  return x;
}

// Whether the k-th element, down the columns, is what it should be.
template <class View, class Element>
KOKKOS_INLINE_FUNCTION bool is_at(const View& A, const Element& element, Index rows, Index k) {
  if constexpr (View::rank() == 1) {
    return A(k) == element(k);
  } else {
    return A(k % rows, k / rows) == element(k % rows, k / rows);
  }
}

// How many elements are not what they should be.
template <class View, class Element>
Index mismatches(const ExecutionSpace& space, const View& A, const Element& element) {
  const auto rows = static_cast<Index>(A.extent(0));
  Index wrong = 0;
  Kokkos::parallel_reduce(
      "heddle::test::compare",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(A.size())),
      KOKKOS_LAMBDA(Index k, Index & total) { total += is_at(A, element, rows, k) ? 0 : 1; }, wrong);
  return wrong;
}

// `factor`, but for two elements whose places need more than 31 bits.
struct Ones {
  static constexpr Index big = two_31 + 5;
  static constexpr Index small = count - 1;
  float factor = 1.0F;
  KOKKOS_INLINE_FUNCTION float operator()(Index k) const {
    return factor * (k == big ? 0x1p40F : k == small ? -0x1p-30F : 1.0F);
  }
};

TEST_F(Large, ExactSums) {
  const auto x = filled<float>(space, count, Ones{});
  exact::Accumulator<double> sum;
  sum.add(static_cast<double>(count - 2));
  sum.add(0x1p40);
  sum.add(-0x1p-30);
  EXPECT_EQ(exact::sum(space, x), sum.value<float>());
  sum.add(0x1p-29);
  EXPECT_EQ(exact::asum(space, x), sum.value<float>());
  exact::scal(space, 0x1p-20F, x);
  EXPECT_EQ(mismatches(space, x, Ones{0x1p-20F}), 0);
}

// Two up, two down, the last five times as much: what a product of neighbours adds, the next takes away.
struct Steps {
  KOKKOS_INLINE_FUNCTION float operator()(Index k) const {
    return (k / 2 % 2 == 0 ? 1.0F : -1.0F) * (k == count - 1 ? 5.0F : 1.0F);
  }
};

TEST_F(Large, ExactSumsThatNeedEveryElement) {
  const auto x = filled<float>(space, count, Steps{});
  static_assert(count % 4 == 0);
  EXPECT_EQ(exact::sum(space, x), -4.0F);
  EXPECT_EQ(exact::asum(space, x), static_cast<float>(count + 4));
  const auto neighbours = [&](Index begin) {
    return Kokkos::subview(x, std::pair<std::size_t, std::size_t>(begin, count - 1 + begin));
  };
  EXPECT_EQ(exact::dot(space, neighbours(0), neighbours(1)), 5.0F);
  EXPECT_EQ(exact::nrm2(space, neighbours(0)), static_cast<float>(edge));
  // Every second one alternates: half as many, twice as far apart.
  const Kokkos::View<float*, Kokkos::LayoutStride, MemorySpace> odd(
      x.data() + 1, Kokkos::LayoutStride(static_cast<std::size_t>(count / 2), 2));
  EXPECT_EQ(exact::sum(space, odd), -4.0F);
}

TEST_F(Large, ExactProducts) {
  const auto elements = filled<float>(space, count, Ones{});
  const Square<float> A(elements.data(), edge, edge);
  const Vector<float> x("heddle::test::x", edge);
  const Vector<float> y("heddle::test::y", edge);
  for (const Operation op : {Operation::none, Operation::transpose}) {
    Kokkos::deep_copy(space, x, 0.5F);
    Kokkos::deep_copy(space, y, 7.0F);
    exact::gemv(space, op, 2.0F, A, x, 1.0F, y);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, y);
    // The small one is the last of the last row and column.
    const Index big = op == Operation::none ? Ones::big % edge : Ones::big / edge;
    for (Index i = 0; i < edge; ++i) {
      const double ones = static_cast<double>(edge - (i == big ? 1 : 0) - (i == edge - 1 ? 1 : 0));
      const double others = (i == big ? 0x1p40 : 0.0) - (i == edge - 1 ? 0x1p-30 : 0.0);
      ASSERT_EQ(host(i), static_cast<float>(7.0 + ones + others)) << i;
    }
  }
}

// Another number for each place of a column-major square, and for each place of its transpose.
struct Places {
  KOKKOS_INLINE_FUNCTION std::int32_t operator()(Index k) const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(k));
  }
  KOKKOS_INLINE_FUNCTION std::int32_t operator()(Index i, Index j) const { return (*this)(j + i * edge); }
};

TEST_F(Large, TransposesInPlace) {
  const auto elements = filled<std::int32_t>(space, count, Places{});
  const Square<std::int32_t> A(elements.data(), edge, edge);
  transpose_in_place(space, 1, A, Operation::transpose);
  EXPECT_EQ(mismatches(space, A, Places{}), 0);
}

// 0 but for one or two elements beyond 2^31.
struct Corner {
  KOKKOS_INLINE_FUNCTION float operator()(Index i, Index j) const {
    return i == edge - 1 && j == edge - 1 ? -7.0F : 0.0F;
  }
};
struct LastColumns {
  KOKKOS_INLINE_FUNCTION float operator()(Index /*i*/, Index j) const {
    return j == two_31 + 63 ? 5.0F : j == two_31 ? -12.0F : 0.0F;
  }
};

TEST_F(Large, DistributedMatrices) {
  const DistributedMatrix<float> A(test::world(), Placement::row_bands(edge, edge, 1));
  fill(A, 1.0F);
  EXPECT_EQ(norm(A, Norm::one), static_cast<float>(edge));
  EXPECT_EQ(norm(A, Norm::infinity), static_cast<float>(edge));
  EXPECT_EQ(trace(A), static_cast<float>(edge));
  scale(-2.0F, A);
  add_identity(1.0F, A);
  EXPECT_EQ(norm(A, Norm::one), static_cast<float>(2 * edge - 1));
  fill(A, Corner{});
  for (const Norm kind : {Norm::one, Norm::infinity, Norm::frobenius, Norm::maximum}) {
    EXPECT_EQ(norm(A, kind), 7.0F);
  }
}

TEST_F(Large, OneRowOfMoreColumnsThanAnIntCounts) {
  const DistributedMatrix<float> A(test::world(), Placement::row_bands(1, two_31 + 64, 1));
  fill(A, LastColumns{});
  EXPECT_EQ(norm(A, Norm::maximum), 12.0F);
}

struct Column {
  KOKKOS_INLINE_FUNCTION float operator()(Index i, Index /*j*/) const { return static_cast<float>(i % 1021 - 500); }
};
struct Row {
  KOKKOS_INLINE_FUNCTION float operator()(Index /*i*/, Index j) const { return static_cast<float>(j % 2039 - 1000); }
};
struct ColumnTimesRow {
  KOKKOS_INLINE_FUNCTION float operator()(Index i, Index j) const { return Column{}(i, 0) * Row{}(0, j); }
};

TEST_F(Large, Products) {
  const Communicator comm = test::world();
  const auto whole = [](Index rows, Index columns) { return Placement::row_bands(rows, columns, 1); };
  const DistributedMatrix<float> a(comm, whole(edge, 1));
  const DistributedMatrix<float> b(comm, whole(1, edge));
  const DistributedMatrix<float> C(comm, whole(edge, edge));
  fill(a, Column{});
  fill(b, Row{});
  gemm(comm, Operation::none, Operation::none, 1.0F, a, b, 0.0F, C);
  EXPECT_EQ(mismatches(space, C.local(), ColumnTimesRow{}), 0);
}

constexpr Index words = 64;
constexpr Index keys = two_31 / words + 3;
constexpr Index distinct = 1000;
// Keys of 64 words of a byte, the same again after `distinct`; the last is alone.
struct Bytes {
  KOKKOS_INLINE_FUNCTION std::uint8_t operator()(Index k) const {
    const Index number = k / words % distinct;
    const Index word = k % words;
    return static_cast<std::uint8_t>(word == 3               ? number / 256
                                     : word == 60            ? number % 256
                                     : k == keys * words - 1 ? 9
                                                             : 0);
  }
};

// Groups are in the order of their first keys.
struct GroupOf {
  KOKKOS_INLINE_FUNCTION Index operator()(Index key) const { return key == keys - 1 ? distinct : key % distinct; }
};

TEST_F(Large, Duplicates) {
  const auto bytes = filled<std::uint8_t>(space, keys * words, Bytes{});
  const Kokkos::View<std::uint8_t**, Kokkos::LayoutRight, MemorySpace> all(bytes.data(), keys, words);
  const auto found = search::find_duplicates(space, all);
  EXPECT_EQ(found.groups(), distinct + 1);
  EXPECT_EQ(mismatches(space, found.group, GroupOf{}), 0);
}

}  // namespace
}  // namespace heddle::large_test
