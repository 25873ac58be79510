// Tests of gemv, gemm and trsv against MPFR, element by element.
#include "matrices.hpp"
#include "support/errors.hpp"
#include <heddle/exact/matrix.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace heddle::exact::matrix_test {
namespace {

using Kokkos::complex;

template <class T> class ExactMatrices : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(ExactMatrices, Types);

struct Shape {
  std::size_t m, n, k;
};

template <class T> struct Product {
  Operation op_a, op_b;
  Shape shape;
  T alpha, beta;
};

template <class T, class Layout> void check_product(std::mt19937_64& random, Data data, const Product<T>& product) {
  const auto& [op_a, op_b, shape, alpha, beta] = product;
  const auto& [m, n, k] = shape;
  Matrix<T, Layout> A(op_a == Operation::none ? m : k, op_a == Operation::none ? k : m);
  Matrix<T, Layout> B(op_b == Operation::none ? k : n, op_b == Operation::none ? n : k);
  Matrix<T, Layout> C(m, n);
  A.fill(random, data);
  B.fill(random, data == Data::cancelling ? Data::tame : data);
  if (data == Data::cancelling) {
    // Pairs of products that cancel, except for one in fifty.
    for (std::size_t l = 1; l < k; l += 2) {
      for (std::size_t j = 0; j < n; ++j) {
        T& left = op_b == Operation::none ? B.host(l - 1, j) : B.host(j, l - 1);
        T& right = op_b == Operation::none ? B.host(l, j) : B.host(j, l);
        right = random() % 50 == 0 ? left : -left;
      }
      for (std::size_t i = 0; i < m; ++i) {
        (op_a == Operation::none ? A.host(i, l) : A.host(l, i)) =
            op_a == Operation::none ? A.host(i, l - 1) : A.host(l - 1, i);
      }
    }
    Kokkos::deep_copy(A.device, A.host);
    Kokkos::deep_copy(B.device, B.host);
  }
  C.fill(random, data == Data::any ? Data::any : Data::tame);
  Matrix<T, Layout> before(m, n);
  Kokkos::deep_copy(before.host, C.host);
  gemm(ExecutionSpace(), op_a, op_b, alpha, A.device, B.device, beta, C.device);
  C.read();
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      Expected<T> expected;
      for (std::size_t l = 0; l < k; ++l) {
        expected.add(taken(op_a, op_a == Operation::none ? A.host(i, l) : A.host(l, i)),
                     taken(op_b, op_b == Operation::none ? B.host(l, j) : B.host(j, l)), alpha);
      }
      expected.add(before.host(i, j), beta);
      ASSERT_EQ(text_of(C.host(i, j)), expected.text()) << i << ", " << j << " of " << m << " x " << n << " x " << k;
    }
  }
}

TYPED_TEST(ExactMatrices, ProductsOfEveryKindAreCorrectlyRounded) {
  using T = TypeParam;
  std::mt19937_64 random(1);
  const std::array<Operation, 3> operations = {Operation::none, Operation::transpose, Operation::conjugate_transpose};
  const Shape shapes[] = {{1, 1, 1}, {3, 2, 5}, {17, 1, 40}, {20, 3, 9}, {33, 2, 70}, {300, 1, 3}};
  for (const Data data : {Data::tame, Data::spread, Data::cancelling, Data::any}) {
    for (const Operation op_a : operations) {
      for (const Shape& shape : shapes) {
        const Operation op_b = operations[random() % 3];
        const T alpha = random() % 2 == 0 ? T(1) : number<T>(random, Data::spread);
        const T beta = random() % 3 == 0 ? T(1) : number<T>(random, Data::spread);
        const Product<T> product = {op_a, op_b, shape, alpha, beta};
        check_product<T, Kokkos::LayoutLeft>(random, data, product);
        check_product<T, Kokkos::LayoutRight>(random, data, product);
      }
    }
  }
}

TYPED_TEST(ExactMatrices, ZeroFactorsReadNothing) {
  using T = TypeParam;
  const Real<T> nan = std::numeric_limits<Real<T>>::quiet_NaN();
  Matrix<T> A(20, 5);
  Matrix<T> x(5, 1);
  Matrix<T> y(20, 1);
  Kokkos::deep_copy(A.device, T(nan));
  Kokkos::deep_copy(y.device, T(3));
  const auto vector = [](const Matrix<T>& matrix) { return Kokkos::subview(matrix.device, Kokkos::ALL, 0); };
  gemv(ExecutionSpace(), Operation::none, T(0), A.device, vector(x), T(2), vector(y));
  y.read();
  EXPECT_EQ(y.host(7, 0), T(6));
  Kokkos::deep_copy(A.device, T(2));
  Kokkos::deep_copy(x.device, T(1));
  Kokkos::deep_copy(y.device, T(nan));
  gemv(ExecutionSpace(), Operation::none, T(1), A.device, vector(x), T(0), vector(y));
  y.read();
  EXPECT_EQ(y.host(19, 0), T(10));
  test::expect_refusal(ErrorKind::argument, "exact::gemv: op(A) is 5 x 20, x has 5 elements, y has 20", [&] {
    gemv(ExecutionSpace(), Operation::transpose, T(1), A.device, vector(x), T(0), vector(y));
  });
}

TYPED_TEST(ExactMatrices, ExtentsOfNothing) {
  using T = TypeParam;
  std::mt19937_64 random(4);
  for (const auto op : {Operation::none, Operation::transpose}) {
    // Without products C becomes beta C; without elements nothing happens.
    Matrix<T> A(op == Operation::none ? 3 : 0, op == Operation::none ? 0 : 3);
    Matrix<T> B(0, 2);
    Matrix<T> C(3, 2);
    C.fill(random, Data::tame);
    Matrix<T> before(3, 2);
    Kokkos::deep_copy(before.host, C.host);
    gemm(ExecutionSpace(), op, Operation::none, T(5), A.device, B.device, T(2), C.device);
    C.read();
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        EXPECT_EQ(C.host(i, j), before.host(i, j) * Real<T>(2));
      }
    }
    const Matrix<T> none(0, 2);
    gemm(ExecutionSpace(), Operation::none, Operation::none, T(1), Matrix<T>(0, 3).device, C.device, T(0), none.device);
    const Kokkos::View<T*, MemorySpace> x("heddle::test::x", 0);
    trsv(ExecutionSpace(), Triangle::upper, op, Diagonal::stored, Matrix<T>(0, 0).device, x, 2);
  }
}

// Rows and columns of larger matrices, with stride 2.
TYPED_TEST(ExactMatrices, SubViews) {
  using T = TypeParam;
  std::mt19937_64 random(5);
  Matrix<T> all(60, 50);
  all.fill(random, Data::tame);
  const auto A = Kokkos::subview(all.device, Kokkos::make_pair(3, 44), Kokkos::make_pair(5, 30));
  const auto x = Kokkos::subview(all.device, 50, Kokkos::make_pair(5, 30));
  Matrix<T> wide(41, 3);
  const auto y = Kokkos::subview(wide.device, Kokkos::ALL, 1);
  gemv(ExecutionSpace(), Operation::none, T(1), A, x, T(0), y);
  wide.read();
  for (std::size_t i = 0; i < 41; ++i) {
    Expected<T> expected;
    for (std::size_t j = 0; j < 25; ++j) {
      expected.add(all.host(i + 3, j + 5), all.host(50, j + 5));
    }
    ASSERT_EQ(text_of(wide.host(i, 1)), expected.text()) << i;
    ASSERT_EQ(wide.host(i, 0), T(0));
    ASSERT_EQ(wide.host(i, 2), T(0));
  }
}

}  // namespace
}  // namespace heddle::exact::matrix_test
