// Tests that every exact algorithm has the bits of Algorithm::automatic, and that the errors of the others are in their
// bounds.
#include "matrices.hpp"
#include <heddle/exact/lu.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace heddle::exact::algorithms_test {
namespace {

using Kokkos::complex;

template <class T> class ExactAlgorithms : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(ExactAlgorithms, Types);

constexpr Algorithm exact_ones[] = {Algorithm::accumulator, Algorithm::expansion_2, Algorithm::expansion_3,
                                    Algorithm::expansion_4, Algorithm::expansion_5, Algorithm::expansion_6,
                                    Algorithm::expansion_7, Algorithm::expansion_8};
constexpr Data all_data[] = {Data::tame, Data::spread, Data::cancelling, Data::any, Data::denormal, Data::huge};

// Text, so that NaNs and the signs of zeros are compared, too.
using Result = std::vector<std::string>;

template <class T> std::string bits_of(const T& x) {
  if constexpr (is_complex<T>) {
    return shown(x.real()) + ' ' + shown(x.imag());
  } else {
    return shown(x);
  }
}
template <class View> Result bits_of_view(const View& view) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  Result all;
  for (std::size_t j = 0; j < host.extent(1); ++j) {
    for (std::size_t i = 0; i < host.extent(0); ++i) all.push_back(bits_of(host.access(i, j)));
  }
  return all;
}

void expect_all_alike(const std::string& what, const std::function<Result(Algorithm)>& run) {
  const Result expected = run(Algorithm::automatic);
  ASSERT_FALSE(expected.empty());
  for (const Algorithm algorithm : exact_ones) {
    const Result found = run(algorithm);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      ASSERT_EQ(found[k], expected[k]) << what << ", " << to_string(algorithm) << ", number " << k;
    }
  }
}

template <class T> Matrix<T> filled(std::mt19937_64& random, std::size_t m, std::size_t n, Data data) {
  Matrix<T> A(m, n);
  A.fill(random, data);
  return A;
}

TYPED_TEST(ExactAlgorithms, SumsAndInnerProductsHaveTheSameBits) {
  using T = TypeParam;
  std::mt19937_64 random(1);
  for (const Data data : all_data) {
    for (const std::size_t n : {0, 1, 3, 64, 1000, 5001}) {
      // A row of a matrix of one and of three rows: strides 1 and 3.
      for (const std::size_t rows : {1, 3}) {
        const Matrix<T> X = filled<T>(random, rows, n, data);
        const Matrix<T> Y = filled<T>(random, rows, n, data == Data::cancelling ? Data::tame : data);
        const auto x = Kokkos::subview(X.device, 0, Kokkos::ALL);
        const auto y = Kokkos::subview(Y.device, 0, Kokkos::ALL);
        expect_all_alike("sum",
                         [&](Algorithm algorithm) { return Result{bits_of(sum(ExecutionSpace(), x, algorithm))}; });
        expect_all_alike("dot", [&](Algorithm algorithm) {
          return Result{bits_of(dot(ExecutionSpace(), x, y, algorithm)),
                        bits_of(dotc(ExecutionSpace(), x, y, algorithm))};
        });
      }
    }
  }
}

TYPED_TEST(ExactAlgorithms, ProductsHaveTheSameBits) {
  using T = TypeParam;
  std::mt19937_64 random(2);
  for (const Data data : all_data) {
    for (const Operation op : {Operation::none, Operation::transpose, Operation::conjugate_transpose}) {
      const Matrix<T> A = filled<T>(random, op == Operation::none ? 37 : 70, op == Operation::none ? 70 : 37, data);
      const Matrix<T> B = filled<T>(random, 70, 5, data);
      const Matrix<T> C = filled<T>(random, 37, 5, Data::tame);
      for (const T alpha : {T(1), T(-0.75), T(0)}) {
        for (const T beta : {T(0), T(1), T(0.3)}) {
          expect_all_alike("gemm", [&](Algorithm algorithm) {
            Matrix<T> result(37, 5);
            Kokkos::deep_copy(result.device, C.device);
            gemm(ExecutionSpace(), op, Operation::none, alpha, A.device, B.device, beta, result.device, algorithm);
            return bits_of_view(result.device);
          });
          expect_all_alike("gemv", [&](Algorithm algorithm) {
            Matrix<T> result(37, 5);
            Kokkos::deep_copy(result.device, C.device);
            gemv(ExecutionSpace(), op, alpha, A.device, Kokkos::subview(B.device, Kokkos::ALL, 1), beta,
                 Kokkos::subview(result.device, Kokkos::ALL, 3), algorithm);
            return bits_of_view(result.device);
          });
        }
      }
    }
  }
}

TYPED_TEST(ExactAlgorithms, TriangularSystemsHaveTheSameBits) {
  using T = TypeParam;
  if (!trsv_takes(Algorithm::accumulator)) return;
  std::mt19937_64 random(3);
  for (const Data data : {Data::tame, Data::spread, Data::denormal}) {
    // Sizes below, at and above the blocks of devices.
    for (const std::size_t n : {1, 31, 64, 65, 150}) {
      Matrix<T> A = filled<T>(random, n, n, data);
      for (std::size_t i = 0; i < n; ++i) A.host(i, i) = A.host(i, i) + T(data == Data::denormal ? 0 : 3);
      Kokkos::deep_copy(A.device, A.host);
      const Matrix<T> b = filled<T>(random, n, 1, data);
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        for (const Operation op : {Operation::none, Operation::transpose, Operation::conjugate_transpose}) {
          for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit}) {
            for (const int refinements : {0, 2}) {
              expect_all_alike("trsv of " + std::to_string(n), [&](Algorithm algorithm) {
                Matrix<T> x(n, 1);
                Kokkos::deep_copy(x.device, b.device);
                trsv(ExecutionSpace(), triangle, op, diagonal, A.device, Kokkos::subview(x.device, Kokkos::ALL, 0),
                     refinements, algorithm);
                return bits_of_view(x.device);
              });
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(ExactAlgorithms, FactorizationsHaveTheSameBits) {
  using T = TypeParam;
  if (!lu_takes(Algorithm::accumulator)) return;
  std::mt19937_64 random(4);
  for (const Data data : {Data::tame, Data::spread, Data::cancelling, Data::denormal}) {
    for (const auto& [m, n] : {std::pair<std::size_t, std::size_t>{1, 1}, {60, 60}, {33, 57}, {57, 33}}) {
      const Matrix<T> A = filled<T>(random, m, n, data);
      expect_all_alike("lu", [&, m = m, n = n](Algorithm algorithm) {
        Matrix<T> LU(m, n);
        Kokkos::deep_copy(LU.device, A.device);
        const LuResult found = lu(ExecutionSpace(), LU.device, {.algorithm = algorithm});
        Result all = bits_of_view(LU.device);
        for (const Index pivot : found.pivots) all.push_back(std::to_string(pivot));
        all.push_back(std::to_string(found.info));
        return all;
      });
    }
  }
}

// 1, 2^-60 and -1 thirty times: plain sums are 0 or nearly so, twice the precision is exact; with 2^-130 it loses that
// term.
TYPED_TEST(ExactAlgorithms, TheOthersLoseWhatTheyMust) {
  using T = TypeParam;
  using R = Real<T>;
  const auto with = [](R small) {
    Matrix<T> X(90, 1);
    for (std::size_t k = 0; k < 30; ++k) {
      X.host(3 * k, 0) = T(1);
      X.host(3 * k + 1, 0) = T(small);
      X.host(3 * k + 2, 0) = T(-1);
    }
    Kokkos::deep_copy(X.device, X.host);
    return X;
  };
  const auto found = [](const Matrix<T>& X, Algorithm algorithm) {
    const auto x = Kokkos::subview(X.device, Kokkos::ALL, 0);
    return sum(ExecutionSpace(), x, algorithm);
  };
  const Matrix<T> near = with(R(0x1p-60));
  EXPECT_EQ(found(near, Algorithm::automatic), T(R(30 * 0x1p-60)));
  EXPECT_EQ(found(near, Algorithm::twice), T(R(30 * 0x1p-60)));
  EXPECT_NE(found(near, Algorithm::plain), T(R(30 * 0x1p-60)));
  const Matrix<T> far = with(R(0x1p-120));
  EXPECT_EQ(found(far, Algorithm::expansion_2), T(R(30 * 0x1p-120)));
  EXPECT_NE(found(far, Algorithm::plain), T(R(30 * 0x1p-120)));
}

TYPED_TEST(ExactAlgorithms, TheOthersAreNearOnTameData) {
  using T = TypeParam;
  using R = Real<T>;
  std::mt19937_64 random(5);
  const std::size_t n = 130;
  Matrix<T> A = filled<T>(random, n, n, Data::tame);
  for (std::size_t i = 0; i < n; ++i) A.host(i, i) = A.host(i, i) + T(static_cast<R>(n));
  Kokkos::deep_copy(A.device, A.host);
  const Matrix<T> b = filled<T>(random, n, 1, Data::tame);
  const R unit = std::numeric_limits<R>::epsilon();
  const auto near = [&](const std::function<Matrix<T>(Algorithm)>& run) {
    Matrix<T> expected = run(Algorithm::automatic);
    expected.read();
    for (const Algorithm algorithm : {Algorithm::twice, Algorithm::plain}) {
      Matrix<T> result = run(algorithm);
      result.read();
      for (std::size_t i = 0; i < result.host.extent(0); ++i) {
        EXPECT_LE(Kokkos::abs(result.host(i, 0) - expected.host(i, 0)), R(100) * unit) << to_string(algorithm);
      }
    }
  };
  near([&](Algorithm algorithm) {
    Matrix<T> y(n, 1);
    gemv(ExecutionSpace(), Operation::transpose, T(R(1) / R(n)), A.device, Kokkos::subview(b.device, Kokkos::ALL, 0),
         T(0), Kokkos::subview(y.device, Kokkos::ALL, 0), algorithm);
    return y;
  });
  near([&](Algorithm algorithm) {
    Matrix<T> x(n, 1);
    Kokkos::deep_copy(x.device, b.device);
    trsv(ExecutionSpace(), Triangle::upper, Operation::none, Diagonal::stored, A.device,
         Kokkos::subview(x.device, Kokkos::ALL, 0), 1, algorithm);
    return x;
  });
}

TYPED_TEST(ExactAlgorithms, ThatABuildHasNotAreRefused) {
  using T = TypeParam;
  std::vector<Algorithm> all(std::begin(exact_ones), std::end(exact_ones));
  all.insert(all.end(), {Algorithm::automatic, Algorithm::twice, Algorithm::plain});
  for (const Algorithm algorithm : all) {
    const auto is_refused = [&](const auto& run) {
      Matrix<T> A(2, 2);
      Kokkos::deep_copy(A.device, T(1));
      try {
        run(A.device);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::argument);
        return true;
      }
      return false;
    };
    EXPECT_EQ(is_refused([&](const auto& A) { static_cast<void>(lu(ExecutionSpace(), A, {.algorithm = algorithm})); }),
              !lu_takes(algorithm))
        << to_string(algorithm);
    EXPECT_EQ(is_refused([&](const auto& A) {
                const Kokkos::View<T*, MemorySpace> x("heddle::test::x", 2);
                trsv(ExecutionSpace(), Triangle::lower, Operation::none, Diagonal::stored, A, x, 0, algorithm);
              }),
              !trsv_takes(algorithm))
        << to_string(algorithm);
  }
}

TEST(ExactAlgorithmNames, AreReadAsTheyAreWritten) {
  for (const Algorithm algorithm : exact_ones) {
    EXPECT_EQ(algorithm_from(to_string(algorithm)), algorithm);
    EXPECT_TRUE(is_exact(algorithm));
  }
  EXPECT_EQ(algorithm_from("plain"), Algorithm::plain);
  EXPECT_FALSE(is_exact(Algorithm::twice));
  EXPECT_THROW(static_cast<void>(algorithm_from("expansion-9")), Error);
}

}  // namespace
}  // namespace heddle::exact::algorithms_test
