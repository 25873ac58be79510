// Tests of the transpose on one device.
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/transpose/transpose.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace heddle::transpose_test {
namespace {

// An element that says where it comes from: exact in every type for the extents used here.
template <class T> T element(Index i, Index j, Index k = 0) {
  const Index number = (k * 1100 + i) * 1100 + j;
  if constexpr (Scalar<T>) {
    if constexpr (is_complex<T>) {
      return T(static_cast<Real<T>>(number), static_cast<Real<T>>(-1 - j));
    } else {
      return static_cast<T>(number);
    }
  } else {
    return static_cast<T>(number);
  }
}

template <class T> T mapped(T alpha, Operation op, T value) {
  if constexpr (Scalar<T>) {
    if (op == Operation::conjugate_transpose) {
      value = conjugate(value);
    }
    if constexpr (is_complex<T>) {
      return T(std::fma(-alpha.imag(), value.imag(), alpha.real() * value.real()),
               std::fma(alpha.imag(), value.real(), alpha.real() * value.imag()));
    }
  }
  return alpha * value;
}

constexpr Index pad = 3;

// Extents x batch, inside a larger array whose rest must stay as it is.
template <class T, class Layout> struct Padded {
  using Array = Kokkos::View<T***, Layout, MemorySpace>;
  Array parent;
  Kokkos::View<T***, Kokkos::LayoutStride, MemorySpace> view;

  Padded(Index rows, Index columns, Index batch)
      : parent("heddle::test::parent", static_cast<std::size_t>(rows + pad), static_cast<std::size_t>(columns + pad),
               static_cast<std::size_t>(batch)),
        view(Kokkos::subview(parent, std::pair<Index, Index>(1, rows + 1), std::pair<Index, Index>(2, columns + 2),
                             Kokkos::ALL)) {
    const auto mirror = Kokkos::create_mirror_view(parent);
    for_each(mirror, [&](Index i, Index j, Index k) { mirror(i, j, k) = T(-7); });
    Kokkos::deep_copy(parent, mirror);
  }
  template <class Mirror, class Body> static void for_each(const Mirror& mirror, const Body& body) {
    for (Index k = 0; k < static_cast<Index>(mirror.extent(2)); ++k) {
      for (Index j = 0; j < static_cast<Index>(mirror.extent(1)); ++j) {
        for (Index i = 0; i < static_cast<Index>(mirror.extent(0)); ++i) {
          body(i, j, k);
        }
      }
    }
  }
  [[nodiscard]] bool is_inside(Index i, Index j) const {
    return i >= 1 && i < 1 + static_cast<Index>(view.extent(0)) && j >= 2 && j < 2 + static_cast<Index>(view.extent(1));
  }
  void number() {
    const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), parent);
    for_each(mirror, [&](Index i, Index j, Index k) {
      if (is_inside(i, j)) {
        mirror(i, j, k) = element<T>(i - 1, j - 2, k);
      }
    });
    Kokkos::deep_copy(parent, mirror);
  }
  // How many elements are not `expected(i, j, k)`, or, outside, not as they were.
  template <class Expected> [[nodiscard]] Index wrong(const Expected& expected) const {
    const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), parent);
    Index count = 0;
    for_each(mirror, [&](Index i, Index j, Index k) {
      const T want = is_inside(i, j) ? expected(i - 1, j - 2, k) : T(-7);
      count += mirror(i, j, k) == want ? 0 : 1;
    });
    return count;
  }
};

constexpr std::array<Operation, 3> operations = {Operation::none, Operation::transpose, Operation::conjugate_transpose};
constexpr std::array<TransposeVariant, 5> variants = {TransposeVariant::automatic, TransposeVariant::naive,
                                                      TransposeVariant::tiled, TransposeVariant::tiled_padded,
                                                      TransposeVariant::streamed};

template <class T, class LayoutA, class LayoutB>
void check(Index m, Index n, Index batch, T alpha, Operation op, const TransposeOptions& options) {
  Padded<T, LayoutA> A(m, n, batch);
  A.number();
  const bool crossed = op != Operation::none;
  Padded<T, LayoutB> B(crossed ? n : m, crossed ? m : n, batch);
  const ExecutionSpace space;
  transpose(space, alpha, A.view, op, B.view, options);
  space.fence("heddle::test");
  EXPECT_EQ(B.wrong([&](Index i, Index j, Index k) {
    return mapped(alpha, op, crossed ? element<T>(j, i, k) : element<T>(i, j, k));
  }),
            0)
      << m << " x " << n << " x " << batch << ", " << to_string(op) << ", " << to_string(options.variant);
  EXPECT_EQ(A.wrong([](Index i, Index j, Index k) { return element<T>(i, j, k); }), 0) << "A was written";
}

template <class T> class Transpose : public ::testing::Test {};
using Types =
    ::testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Transpose, Types);

using Left = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;

// As allocated: the runs of B begin where cache lines and sectors do, or, with odd extents, do not.
TYPED_TEST(Transpose, WholeArrays) {
  using T = TypeParam;
  for (const auto& [m, n] : std::vector<std::pair<std::size_t, std::size_t>>{{512, 384}, {511, 387}, {64, 1089}}) {
    const Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace> A("heddle::test::A", m, n);
    const Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace> B("heddle::test::B", n, m);
    const auto from = Kokkos::create_mirror_view(A);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < m; ++i) {
        from(i, j) = element<T>(static_cast<Index>(i), static_cast<Index>(j));
      }
    }
    Kokkos::deep_copy(A, from);
    const ExecutionSpace space;
    transpose(space, T(1), A, Operation::transpose, B);
    space.fence("heddle::test");
    const auto to = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), B);
    Index wrong = 0;
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < m; ++i) {
        wrong += to(j, i) == from(i, j) ? 0 : 1;
      }
    }
    EXPECT_EQ(wrong, 0) << m << " x " << n;
  }
}

TYPED_TEST(Transpose, EveryShapeOperationAndVariant) {
  using T = TypeParam;
  // Empty, single, odd, prime, skinny, powers of two, more than a block either way.
  for (const auto& [m, n] : std::vector<std::pair<Index, Index>>{{0, 0},
                                                                 {0, 5},
                                                                 {5, 0},
                                                                 {1, 1},
                                                                 {1, 67},
                                                                 {67, 1},
                                                                 {8, 8},
                                                                 {7, 9},
                                                                 {64, 64},
                                                                 {31, 33},
                                                                 {128, 64},
                                                                 {97, 101},
                                                                 {3, 1031},
                                                                 {1031, 3},
                                                                 {521, 263},
                                                                 {1024, 72}}) {
    for (const Operation op : operations) {
      for (const TransposeVariant variant : variants) {
        check<T, Left, Left>(m, n, 1, T(1), op, {variant});
      }
    }
  }
}

TYPED_TEST(Transpose, LayoutsOfEitherSide) {
  using T = TypeParam;
  for (const Operation op : operations) {
    for (const TransposeVariant variant : variants) {
      check<T, Left, Right>(93, 71, 1, T(1), op, {variant});
      check<T, Right, Left>(93, 71, 1, T(1), op, {variant});
      check<T, Right, Right>(93, 71, 1, T(1), op, {variant});
    }
  }
}

TYPED_TEST(Transpose, BatchesAndFactors) {
  using T = TypeParam;
  for (const Operation op : operations) {
    for (const TransposeVariant variant : variants) {
      check<T, Left, Left>(65, 41, 5, T(3), op, {variant});
      check<T, Right, Right>(17, 80, 3, T(-1), op, {variant});
    }
  }
}

// With all digits of the factor in use a product rounds: the same way in every variant, wherever the element stands.
TYPED_TEST(Transpose, FactorsRoundTheSameEverywhere) {
  using T = TypeParam;
  T alpha(1);
  if constexpr (Scalar<T>) {
    alpha = test::narrow<T>({0.7731412345678912, -0.3141592653589793});
  }
  for (const Operation op : operations) {
    for (const TransposeVariant variant : variants) {
      check<T, Left, Left>(93, 71, 1, alpha, op, {variant});
      check<T, Left, Right>(27, 153, 1, alpha, op, {variant});
      check<T, Right, Left>(1, 7, 3, alpha, op, {variant});
    }
  }
}

TYPED_TEST(Transpose, BlocksOfAnyExtents) {
  using T = TypeParam;
  for (const auto& [rows, columns] : std::vector<std::pair<int, int>>{{1, 1}, {1, 7}, {5, 1}, {16, 8}, {33, 17}}) {
    for (const TransposeVariant variant :
         {TransposeVariant::naive, TransposeVariant::tiled, TransposeVariant::tiled_padded}) {
      check<T, Left, Left>(70, 45, 2, T(1), Operation::transpose, {variant, rows, columns});
    }
  }
}

// Past the caches, where lines begin elsewhere in each column.
TYPED_TEST(Transpose, LargeMatrices) {
  using T = TypeParam;
  for (const auto& [m, n] : std::vector<std::pair<Index, Index>>{{1097, 1091}, {1088, 1088}}) {
    for (const TransposeVariant variant : {TransposeVariant::automatic, TransposeVariant::streamed}) {
      check<T, Left, Left>(m, n, 1, T(1), Operation::transpose, {variant});
      check<T, Left, Left>(m, n, 1, T(2), Operation::conjugate_transpose, {variant});
      check<T, Left, Left>(m, n, 1, T(1), Operation::none, {variant});
      check<T, Left, Left>(m, n, 1, T(2), Operation::none, {variant});
    }
  }
}

TYPED_TEST(Transpose, InPlace) {
  using T = TypeParam;
  for (const Index n : {0, 1, 2, 31, 32, 64, 65, 200}) {
    for (const Operation op : operations) {
      Padded<T, Left> A(n, n, 2);
      A.number();
      const ExecutionSpace space;
      transpose_in_place(space, T(2), A.view, op);
      space.fence("heddle::test");
      EXPECT_EQ(A.wrong([&](Index i, Index j, Index k) {
        return mapped(T(2), op, op == Operation::none ? element<T>(i, j, k) : element<T>(j, i, k));
      }),
                0)
          << n << ", " << to_string(op);
    }
  }
}

TYPED_TEST(Transpose, RectanglesInPlace) {
  using T = TypeParam;
  for (const auto& [m, n] : std::vector<std::pair<Index, Index>>{{0, 3},
                                                                 {1, 1},
                                                                 {1, 9},
                                                                 {9, 1},
                                                                 {2, 3},
                                                                 {3, 2},
                                                                 {4, 6},
                                                                 {6, 4},
                                                                 {8, 64},
                                                                 {64, 8},
                                                                 {7, 97},
                                                                 {97, 7},
                                                                 {96, 72},
                                                                 {72, 96},
                                                                 {60, 60},
                                                                 {1031, 3},
                                                                 {3, 1031}}) {
    for (const Operation op : operations) {
      const Kokkos::View<T*, MemorySpace> elements("heddle::test::elements", static_cast<std::size_t>(m * n + 1));
      const auto mirror = Kokkos::create_mirror_view(elements);
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) {
          mirror(i + j * m) = element<T>(i, j);
        }
      }
      mirror(m * n) = T(-7);
      Kokkos::deep_copy(elements, mirror);
      const ExecutionSpace space;
      transpose_in_place(space, T(2), elements, m, n, op);
      space.fence("heddle::test");
      Kokkos::deep_copy(mirror, elements);
      Index wrong = mirror(m * n) == T(-7) ? 0 : 1;
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) {
          const Index place = op == Operation::none ? i + j * m : j + i * n;
          wrong += mirror(place) == mapped(T(2), op, element<T>(i, j)) ? 0 : 1;
        }
      }
      EXPECT_EQ(wrong, 0) << m << " x " << n << ", " << to_string(op);
    }
  }
}

using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace>;

TEST(TransposeArguments, ShapesThatDoNotFitAreRefused) {
  const ExecutionSpace space;
  const Matrix A("heddle::test::a", 4, 5);
  const Matrix B("heddle::test::b", 4, 5);
  EXPECT_EQ(test::refusal_of([&] { transpose(space, 1.0, A, Operation::transpose, B); }),
            "transpose: A is 4 x 5 x 1, op is T, B is 4 x 5 x 1");
  EXPECT_NE(test::refusal_of([&] { transpose_in_place(space, 1.0, A, Operation::transpose); }), "");
  const Kokkos::View<double*, MemorySpace> elements("heddle::test::elements", 19);
  EXPECT_EQ(test::refusal_of([&] { transpose_in_place(space, 1.0, elements, 4, 5, Operation::transpose); }),
            "transpose_in_place: A is 4 x 5 in 19 elements");
  EXPECT_NE(test::refusal_of([&] {
              transpose(space, 1.0, A, Operation::none, B, {TransposeVariant::tiled, -1, 1});
            }),
            "");
  // Products of extents that overflow.
  EXPECT_EQ(test::refusal_of([&] {
              transpose_in_place(space, 1.0, elements, Index{1} << 32, Index{1} << 32, Operation::transpose);
            }),
            "transpose_in_place: A is 4294967296 x 4294967296 in 19 elements");
  constexpr int most = std::numeric_limits<int>::max();
  EXPECT_NE(test::refusal_of([&] {
              transpose(space, 1.0, A, Operation::none, B, {TransposeVariant::naive, most, most});
            }),
            "");
}

TEST(TransposeArguments, OverlapIsRefusedAndNeighboursAreNot) {
  const ExecutionSpace space;
  const Matrix whole("heddle::test::whole", 20, 20);
  const auto part = [&](Index row, Index column) {
    return Kokkos::subview(whole, std::pair<Index, Index>(row, row + 8), std::pair<Index, Index>(column, column + 8));
  };
  const auto refused = [&](const auto& A, const auto& B) {
    return !test::refusal_of([&] { transpose(space, 1.0, A, Operation::transpose, B); }).empty();
  };
  EXPECT_TRUE(refused(part(0, 0), part(0, 0)));
  EXPECT_TRUE(refused(part(0, 0), part(7, 7)));
  EXPECT_TRUE(refused(part(7, 7), part(0, 0)));
  EXPECT_TRUE(refused(part(7, 0), part(0, 7)));
  EXPECT_FALSE(refused(part(0, 0), part(8, 0)));
  EXPECT_FALSE(refused(part(8, 0), part(0, 0)));
  EXPECT_FALSE(refused(part(0, 8), part(8, 0)));
  EXPECT_FALSE(refused(part(12, 0), part(0, 1)));
  EXPECT_FALSE(refused(part(0, 0), part(0, 8)));
  const auto every_second = [&](std::size_t first) {
    return StridedMatrix<double>(whole.data() + whole.stride(1) * first,
                                 Kokkos::LayoutStride(8, whole.stride(0), 8, 2 * whole.stride(1)));
  };
  EXPECT_FALSE(refused(every_second(0), every_second(1)));
  EXPECT_TRUE(refused(every_second(0), every_second(2)));
  space.fence("heddle::test");
}

TEST(TransposeVariants, HaveNames) {
  for (const TransposeVariant variant : variants) {
    EXPECT_EQ(transpose_variant_from(to_string(variant)), variant);
  }
  EXPECT_EQ(test::refusal_of([] { static_cast<void>(transpose_variant_from("fast")); }),
            "transpose variant \"fast\"; expected automatic, naive, tiled, tiled-padded or streamed");
}

}  // namespace
}  // namespace heddle::transpose_test
