// Emulated products on one rank: error bounds, bits, extreme numbers, parts, panels and kept factors.
#include "gemm/exact_product.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/core/error.hpp>
#include <heddle/emulation/emulation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace heddle::emulation_test {
namespace {

using test::exact_product;
using test::host_random;
using test::padded_on_device;
using test::size_of;
using test::to_host;

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
HostMatrix<T> product(Operation op_a, Operation op_b, T alpha, const HostMatrix<T>& A, const HostMatrix<T>& B, T beta,
                      const HostMatrix<T>& C, const EmulationOptions& options = {}, EmulationReport* report = nullptr) {
  const ExecutionSpace space;
  const MatrixView<T> c = padded_on_device(C);
  const auto k = static_cast<Index>(A.extent(op_a == Operation::none ? 1 : 0));
  EmulatedGemm<T> gemm(blas::Context(space), static_cast<Index>(C.extent(0)), static_cast<Index>(C.extent(1)), k,
                       options);
  gemm(op_a, op_b, alpha, padded_on_device(A), padded_on_device(B), beta, c);
  space.fence();
  if (report != nullptr) *report = gemm.report();
  return to_host(c);
}

template <Scalar T>
HostMatrix<T> product(const HostMatrix<T>& A, const HostMatrix<T>& B, const EmulationOptions& options,
                      EmulationReport* report = nullptr) {
  const HostMatrix<T> C("test", A.extent(0), B.extent(1));
  Kokkos::deep_copy(C, T(std::numeric_limits<Real<T>>::quiet_NaN()));  // beta == 0 does not read C
  return product(Operation::none, Operation::none, T(1), A, B, T(0), C, options, report);
}
template <Scalar T> HostMatrix<T> product(const HostMatrix<T>& A, const HostMatrix<T>& B, int moduli = 0) {
  return product(A, B, {.moduli = moduli});
}

// The largest |C - AB|_ij over its bound.
template <Scalar T> double worst(const HostMatrix<T>& A, const HostMatrix<T>& B, const HostMatrix<T>& C, int moduli) {
  const HostMatrix<T> exact = exact_product(A, B);
  const auto inner = static_cast<Index>(A.extent(1));
  const double bound = emulation_error<T>(inner, moduli);
  std::vector<double> rows(A.extent(0));
  std::vector<double> columns(B.extent(1));
  for (std::size_t k = 0; k < A.extent(1); ++k) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = std::hypot(rows[i], size_of(A(i, k)));
    for (std::size_t j = 0; j < columns.size(); ++j) columns[j] = std::hypot(columns[j], size_of(B(k, j)));
  }
  double most = 0.0;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      // The exact product is rounded too.
      const double allowed = rows[i] * columns[j] * bound + 3.0 * unit_roundoff<T> * size_of(exact(i, j)) +
                             2.0 * std::numeric_limits<Real<T>>::denorm_min();
      most = std::max(most, size_of(T(C(i, j) - exact(i, j))) / allowed);
    }
  }
  return most;
}

template <class T> class Emulation : public ::testing::Test {};
TYPED_TEST_SUITE(Emulation, test::AllScalars);

TYPED_TEST(Emulation, OfIntegersIsExactForAllOperationsAndShapes) {
  using T = TypeParam;
  std::mt19937_64 random(3);
  const auto integer = [&](Index, Index) {
    const auto part = [&] { return static_cast<Real<T>>(static_cast<int>(random() % 31) - 15); };
    if constexpr (is_complex<T>) {
      return T(part(), part());
    } else {
      return T(part());
    }
  };
  const auto element = [](Operation op, const HostMatrix<T>& X, Index i, Index j) {
    const T x = op == Operation::none ? X(i, j) : X(j, i);
    return op == Operation::conjugate_transpose ? conjugate(x) : x;
  };
  for (const Operation op_a : {Operation::none, Operation::transpose, Operation::conjugate_transpose}) {
    for (const Operation op_b : {Operation::none, Operation::transpose, Operation::conjugate_transpose}) {
      for (const auto& [m, n, k] :
           {std::array<Index, 3>{1, 1, 1}, {5, 7, 3}, {33, 18, 70}, {16, 64, 65}, {2, 40, 200}}) {
        const auto A =
            op_a == Operation::none ? test::host_matrix<T>(m, k, integer) : test::host_matrix<T>(k, m, integer);
        const auto B =
            op_b == Operation::none ? test::host_matrix<T>(k, n, integer) : test::host_matrix<T>(n, k, integer);
        const auto C = test::host_matrix<T>(m, n, integer);
        // Also with columns in pieces.
        const auto found = product(op_a, op_b, T(2), A, B, T(-3), C, {.moduli = 9, .workspace_bytes = 1});
        for (Index j = 0; j < n; ++j) {
          for (Index i = 0; i < m; ++i) {
            T expected = T(-3) * C(i, j);
            for (Index l = 0; l < k; ++l) expected += T(2) * element(op_a, A, i, l) * element(op_b, B, l, j);
            ASSERT_EQ(found(i, j), expected) << to_string(op_a) << to_string(op_b) << " " << m << " " << n << " " << k;
          }
        }
      }
    }
  }
}

TYPED_TEST(Emulation, StaysWithinItsBoundForAnyModuli) {
  using T = TypeParam;
  const auto A = host_random<T>(40, 300, 1);
  const auto B = host_random<T>(300, 33, 2);
  double last = std::numeric_limits<double>::infinity();
  for (const int moduli : {7, 10, 14, 15, 16, 18, 22, 31}) {
    EXPECT_LE(worst(A, B, product(A, B, moduli), moduli), 1.0) << moduli;
    EXPECT_LT(emulation_error<T>(300, moduli), last);
    last = emulation_error<T>(300, moduli);
  }
  EXPECT_EQ(emulation_moduli<T>(300), sizeof(Real<T>) == 4 ? 7 : is_complex<T> ? 15 : 14);
  EXPECT_GT(emulation_moduli<T>(300, 1e-18), emulation_moduli<T>(300, 1e-12));
  test::expect_refusal(ErrorKind::argument, "needs more than 31 moduli",
                       [&] { static_cast<void>(emulation_moduli<T>(300, 1e-40)); });
  test::expect_refusal(ErrorKind::argument, "emulation: 6 moduli; expected 7 to 31, or 0 for as many as",
                       [&] { product(A, B, 6); });
}

// Products that fit 31 moduli are the exact product, rounded once.
TYPED_TEST(Emulation, WithManyModuliIsCorrectlyRounded) {
  using T = TypeParam;
  if constexpr (!is_complex<T>) {
    std::mt19937_64 random(4);
    const auto spread = [&](int exponents) {
      return [&random, exponents](Index, Index) {
        const double x = static_cast<double>(random() >> 11) / 4503599627370496.0 - 1.0;
        return static_cast<T>(
            std::ldexp(x, static_cast<int>(random() % static_cast<unsigned>(2 * exponents)) - exponents));
      };
    };
    const auto A = test::host_matrix<T>(20, 50, spread(20));
    const auto B = test::host_matrix<T>(50, 30, spread(20));
    EXPECT_TRUE(test::same_bits(product(A, B, 31), exact_product(A, B)));
  }
}

TYPED_TEST(Emulation, TakesEveryScale) {
  using T = TypeParam;
  using R = Real<T>;
  const int range = std::numeric_limits<R>::max_exponent;
  for (const int up : {-range - 20, -range + 2, -range / 2, 0, range / 2 - 8, range - 2}) {
    const auto scaled = [&](int exponent, int seed) {
      return [exponent, seed](Index i, Index j) {
        const T x = test::RandomEntries<T>{seed}(i, j);
        if constexpr (is_complex<T>) {
          return T(std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent));
        } else {
          return std::ldexp(x, exponent);
        }
      };
    };
    // Rows and columns of different scales, one of each zero, and products from the smallest to the largest.
    auto A = test::host_matrix<T>(9, 31, scaled(up, 1));
    auto B = test::host_matrix<T>(31, 11, scaled(-up / 2, 2));
    for (std::size_t k = 0; k < 31; ++k) {
      A(3, k) = T(0);
      B(k, 5) = T(0);
      A(4, k) *= R(1) / R(1024);
    }
    for (const int moduli : {7, 9, 11}) EXPECT_LE(worst(A, B, product(A, B, moduli), moduli), 1.0) << up;
    const auto C = product(A, B, 0);
    EXPECT_LE(worst(A, B, C, emulation_moduli<T>(31)), 1.0) << up;
    EXPECT_EQ(C(3, 0), T(0));
    EXPECT_EQ(C(0, 5), T(0));
  }
  // Products beyond the largest number.
  const R large = std::ldexp(R(1), range - 2);
  const auto A = test::host_matrix<T>(2, 3, [&](Index i, Index) { return T(i == 0 ? large : -large); });
  const auto B = test::host_matrix<T>(3, 1, [&](Index, Index) { return T(large); });
  const auto C = product(A, B, 0);
  const R infinity = std::numeric_limits<R>::infinity();
  if constexpr (is_complex<T>) {
    EXPECT_EQ(C(0, 0).real(), infinity);
    EXPECT_EQ(C(1, 0).real(), -infinity);
    EXPECT_EQ(C(0, 0).imag(), R(0));
  } else {
    EXPECT_EQ(C(0, 0), infinity);
    EXPECT_EQ(C(1, 0), -infinity);
  }
}

TYPED_TEST(Emulation, HandlesNaNAndInfinityAsSumsDo) {
  using T = TypeParam;
  using R = Real<T>;
  const R infinity = std::numeric_limits<R>::infinity();
  auto A = host_random<T>(6, 10, 5);
  auto B = host_random<T>(10, 7, 6);
  const auto plain = product(A, B, 0);
  A(2, 4) = T(std::numeric_limits<R>::quiet_NaN());
  B(3, 1) = T(infinity);
  const auto C = product(A, B, 0);
  for (std::size_t j = 0; j < 7; ++j) {
    for (std::size_t i = 0; i < 6; ++i) {
      if (i == 2) {
        EXPECT_TRUE(std::isnan(size_of(C(i, j)))) << i << " " << j;
      } else if (j == 1) {
        EXPECT_FALSE(std::isfinite(size_of(C(i, j)))) << i << " " << j;
        if constexpr (!is_complex<T>) {
          EXPECT_EQ(C(i, j), A(i, 3) > T(0) ? infinity : -infinity);
        }
      } else {
        EXPECT_EQ(C(i, j), plain(i, j)) << "elsewhere nothing changes";
      }
    }
  }
}

// Slices and residues represent the same integers and share nothing after them; the bits must be the same.
TYPED_TEST(Emulation, BySlicesHasTheBitsOfResidues) {
  using T = TypeParam;
  std::mt19937_64 random(9);
  const auto spread = [&](Index, Index) {
    const auto part = [&] {
      const double x = static_cast<double>(random() >> 11) / 4503599627370496.0 - 1.0;
      return static_cast<Real<T>>(std::ldexp(x, static_cast<int>(random() % 40) - 20));
    };
    if constexpr (is_complex<T>) {
      const Real<T> real = part();
      return T(real, part());
    } else {
      return part();
    }
  };
  auto A = test::host_matrix<T>(150, 37, spread);
  auto B = test::host_matrix<T>(41, 150, spread);
  A(7, 3) = T(std::numeric_limits<Real<T>>::infinity());
  B(2, 140) = T(std::numeric_limits<Real<T>>::denorm_min());
  for (std::size_t k = 0; k < 150; ++k) B(5, k) = T(0);
  const auto C = test::host_matrix<T>(37, 41, spread);
  for (const int moduli : {7, 8, 9, 11, 12, 14, 15, 16, 18, 20, 22, 23, 27, 31}) {
    const auto by = [&](EmulationScheme scheme, std::size_t workspace) {
      return product(Operation::conjugate_transpose, Operation::transpose, T(3), A, B, T(-2), C,
                     {.scheme = scheme, .moduli = moduli, .workspace_bytes = workspace});
    };
    const auto expected = by(EmulationScheme::residues, 0);
    EXPECT_TRUE(test::same_bits(by(EmulationScheme::slices, 0), expected)) << moduli;
    EXPECT_TRUE(test::same_bits(by(EmulationScheme::slices, 1), expected)) << moduli;
  }
  EXPECT_EQ(emulation_scheme_from(to_string(EmulationScheme::slices)), EmulationScheme::slices);
  test::expect_refusal(ErrorKind::argument, "emulation scheme 'digits': expected one of residues, slices",
                       [&] { static_cast<void>(emulation_scheme_from("digits")); });
}

// Inner dimensions beyond the range of 32-bit sums are summed in pieces.
TEST(Emulation, TakesLongInnerDimensions) {
  const Index k = 300001;
  const auto A =
      test::host_matrix<double>(2, k, [](Index i, Index l) { return static_cast<double>((l * 7 + i) % 255 - 127); });
  const auto B =
      test::host_matrix<double>(k, 3, [](Index l, Index j) { return static_cast<double>((l * 7 + j) % 251 - 125); });
  const auto C = product(A, B, 14);
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < 3; ++j) {
      double expected = 0.0;
      for (Index l = 0; l < k; ++l) expected += A(i, l) * B(l, j);
      EXPECT_EQ(C(i, j), expected);
    }
  }
  // The largest possible sums: every product has one sign.
  const auto ones = test::host_matrix<double>(1, k, [](Index, Index) { return 0x1p30 - 1.0; });
  const auto column = test::host_matrix<double>(k, 1, [](Index, Index) { return -(0x1p30 - 1.0); });
  EXPECT_EQ(product(ones, column, 14)(0, 0), exact_product(ones, column)(0, 0));
  EXPECT_EQ(product(ones, column, {.scheme = EmulationScheme::slices, .moduli = 14})(0, 0),
            exact_product(ones, column)(0, 0));
  // Complex numbers, with moduli that have a root of -1 and others: x + i y with both parts, and with each, of one
  // sign, so that planes of any kind are near their largest.
  using Complex = Kokkos::complex<double>;
  for (const int moduli : {15, 23}) {
    for (const Complex x : {Complex(1.0, 1.0), Complex(1.0, -1.0), Complex(1.0, 0.0), Complex(0.0, 1.0)}) {
      const auto row = test::host_matrix<Complex>(1, k, [&](Index, Index) { return x * (0x1p30 - 1.0); });
      const auto long_column =
          test::host_matrix<Complex>(k, 1, [](Index, Index) { return Complex(-(0x1p30 - 1.0), 0x1p30 - 1.0); });
      EXPECT_EQ(product(row, long_column, {.moduli = moduli})(0, 0), exact_product(row, long_column)(0, 0));
    }
    const auto row = host_random<Complex>(1, k, 1);
    const auto long_column = host_random<Complex>(k, 1, 2);
    EXPECT_TRUE(test::same_bits(product(row, long_column, {.moduli = moduli}),
                                product(row, long_column, {.scheme = EmulationScheme::slices, .moduli = moduli})));
  }
}

// An element is a function of its row and its column: any part of the product has the same bits, with any workspace.
TYPED_TEST(Emulation, OfPartsHasTheBitsOfTheWhole) {
  using T = TypeParam;
  const auto A = host_random<T>(50, 90, 7);
  const auto B = host_random<T>(90, 45, 8);
  const auto whole = product(A, B);
  const auto part = product(test::host_matrix<T>(7, 90, [&](Index i, Index j) { return A(i + 31, j); }),
                            test::host_matrix<T>(90, 20, [&](Index i, Index j) { return B(i, j + 18); }));
  EXPECT_TRUE(
      test::same_bits(part, test::host_matrix<T>(7, 20, [&](Index i, Index j) { return whole(i + 31, j + 18); })));
  const HostMatrix<T> C("test", 50, 45);
  const auto transposed = product(Operation::transpose, Operation::transpose, T(1),
                                  test::host_matrix<T>(90, 50, [&](Index i, Index j) { return A(j, i); }),
                                  test::host_matrix<T>(45, 90, [&](Index i, Index j) { return B(j, i); }), T(0), C,
                                  {.workspace_bytes = 100000});
  EXPECT_TRUE(test::same_bits(transposed, whole));
}

// Columns of C and of op(B) in panels: with a look and without, and with NaN and infinities among the last ones.
TYPED_TEST(Emulation, OfPanelsHasTheBitsOfAll) {
  using T = TypeParam;
  const auto A = host_random<T>(37, 130, 27);
  auto B = host_random<T>(130, 75, 28);
  B(9, 60) = T(std::numeric_limits<Real<T>>::infinity());
  B(3, 74) = T(std::numeric_limits<Real<T>>::quiet_NaN());
  for (const bool look : {false, true}) {
    const HostMatrix<T> whole = product(A, B, {.look = look});
    for (const std::size_t workspace : {1, 40000, 90000}) {
      EXPECT_TRUE(test::same_bits(product(A, B, {.look = look, .workspace_bytes = workspace}), whole))
          << look << " " << workspace;
    }
  }
}

// Kept factors serve any product, with the bits of a single call.
TYPED_TEST(Emulation, TakesFactorsQuantisedBefore) {
  using T = TypeParam;
  const blas::Context context{ExecutionSpace()};
  auto A = host_random<T>(31, 60, 17);
  A(4, 7) = T(std::numeric_limits<Real<T>>::infinity());
  const auto B = host_random<T>(27, 60, 18);
  const auto other = host_random<T>(60, 12, 19);
  const auto a = padded_on_device(A);
  const auto b = padded_on_device(B);
  const Quantised<T> left(context, Factor::left, Operation::none, a);
  const Quantised<T> right(context, Factor::right, Operation::conjugate_transpose, b);
  const Quantised<T> third(context, Factor::right, Operation::none, padded_on_device(other));
  EXPECT_EQ(left.moduli(), emulation_moduli<T>(60));
  EmulatedGemm<T> gemm(context, 31, 27, 60, {.look = false});
  const auto C = host_random<T>(31, 27, 20);
  const auto c = padded_on_device(C);
  gemm(T(2), left, right, T(-1), c);
  context.space().fence();
  EXPECT_TRUE(test::same_bits(
      to_host(c), product(Operation::none, Operation::conjugate_transpose, T(2), A, B, T(-1), C, {.look = false})));
  const auto narrow = padded_on_device(host_random<T>(31, 12, 21));
  gemm(T(1), left, third, T(0), narrow);
  context.space().fence();
  EXPECT_TRUE(test::same_bits(to_host(narrow), product(A, other, {.look = false})));
  EXPECT_EQ(gemm.report().moduli, left.moduli());
  test::expect_refusal(ErrorKind::argument, "emulated gemm: A is to be quantised as the left factor, B as",
                       [&] { gemm(T(1), left, left, T(0), narrow); });
  test::expect_refusal(ErrorKind::argument, "emulated gemm: A is to be quantised as the left factor, B as",
                       [&] { gemm(T(1), right, third, T(0), narrow); });
  test::expect_refusal(ErrorKind::argument, "emulated gemm: op(A) is 31 x 60, op(B) is 60 x 27, C is 31 x 12",
                       [&] { gemm(T(1), left, right, T(0), narrow); });
  const Quantised<T> more(context, Factor::right, Operation::none, padded_on_device(other), 20);
  test::expect_refusal(ErrorKind::argument, "emulated gemm: A has", [&] { gemm(T(1), left, more, T(0), narrow); });
}

// FNV-1a over the bytes.
template <Scalar T> std::uint64_t hash_of(const HostMatrix<T>& C) {
  std::uint64_t hash = 14695981039346656037U;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(C.data());
  for (std::size_t k = 0; k < C.size() * sizeof(T); ++k) hash = (hash ^ bytes[k]) * 1099511628211U;
  return hash;
}

// Computed once on a CPU; every backend must give these bits.
TEST(Emulation, HasTheSameBitsOnEveryMachine) {
  EXPECT_EQ(hash_of(product(host_random<double>(123, 456, 1), host_random<double>(456, 78, 2))), 5034487627704405267U);
  EXPECT_EQ(hash_of(product(host_random<float>(123, 456, 1), host_random<float>(456, 78, 2))), 619315449940710721U);
  EXPECT_EQ(hash_of(product(host_random<Kokkos::complex<double>>(123, 456, 1),
                            host_random<Kokkos::complex<double>>(456, 78, 2))),
            12081698055385263486U);
  EXPECT_EQ(hash_of(product(host_random<double>(123, 456, 1), host_random<double>(456, 78, 2), 20)),
            12430005627739488093U);
  // Moduli with a root of -1 and others.
  EXPECT_EQ(hash_of(product(host_random<Kokkos::complex<double>>(123, 456, 1),
                            host_random<Kokkos::complex<double>>(456, 78, 2), 23)),
            16688658846357307858U);
  EXPECT_EQ(hash_of(product(host_random<Kokkos::complex<float>>(123, 456, 1),
                            host_random<Kokkos::complex<float>>(456, 78, 2))),
            10659497565303564048U);
}

// Rows of denormals alone are scaled like any others.
TEST(Emulation, TakesDenormals) {
  const auto A = test::host_matrix<double>(
      3, 300, [](Index i, Index k) { return static_cast<double>(1 + (i + k) % 5) * 0x1p-1074; });
  const auto B = test::host_matrix<double>(300, 2, [](Index, Index j) { return j == 0 ? 0x1p1000 : -0x1.8p999; });
  for (const int moduli : {7, 11, 14})
    EXPECT_TRUE(test::same_bits(product(A, B, moduli), exact_product(A, B))) << moduli;
}

TEST(Emulation, RefusesShapesThatDoNotFit) {
  EmulatedGemm<double> gemm(blas::Context(ExecutionSpace()), 4, 5, 6);
  const auto zeros = [](Index rows, Index columns) {
    return MatrixView<double>(
        LocalMatrix<double>("test", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)));
  };
  const auto N = Operation::none;
  test::expect_refusal(ErrorKind::argument, "emulated gemm: op(A) is 4 x 6, op(B) is 7 x 5, C is 4 x 5",
                       [&] { gemm(N, N, 1.0, zeros(4, 6), zeros(7, 5), 0.0, zeros(4, 5)); });
  test::expect_refusal(ErrorKind::argument, "emulated gemm: 5 x 5, inner 6; the workspace is for up to 4 x",
                       [&] { gemm(N, N, 1.0, zeros(5, 6), zeros(6, 5), 0.0, zeros(5, 5)); });
  test::expect_refusal(ErrorKind::argument, "emulated gemm: op(A) is 4 x 6, op(B) is 6 x 5, C is 5 x 5",
                       [&] { gemm(N, N, 1.0, zeros(4, 6), zeros(6, 5), 0.0, zeros(5, 5)); });
  EXPECT_NO_THROW(gemm(N, N, 1.0, zeros(0, 6), zeros(6, 5), 0.0, zeros(0, 5)));
  test::expect_refusal(ErrorKind::argument, "emulation: 100000 moduli; expected 7 to 31, or 0 for as many as",
                       [&] { EmulatedGemm<double>(blas::Context(ExecutionSpace()), 4, 5, 6, {.moduli = 100000}); });
  test::expect_refusal(ErrorKind::argument, "emulation: -1 moduli; expected 7 to 31, or 0 for as many as",
                       [&] { EmulatedGemm<double>(blas::Context(ExecutionSpace()), 4, 5, 6, {.moduli = -1}); });
  test::expect_refusal(ErrorKind::argument, "emulation: tolerance -1; expected a positive number, or 0 for",
                       [&] { static_cast<void>(emulation_moduli<double>(6, -1.0)); });
  test::expect_refusal(ErrorKind::argument, "emulation: an inner dimension of -6; expected at least 0",
                       [&] { static_cast<void>(emulation_moduli<double>(-6)); });
  test::expect_refusal(ErrorKind::argument, "emulation: an inner dimension of -6; expected at least 0",
                       [&] { static_cast<void>(emulation_error<double>(-6, 14)); });
  test::expect_refusal(ErrorKind::argument, "emulated gemm: a workspace for -4 x 5, inner 6; expected none negative",
                       [&] { EmulatedGemm<double>(blas::Context(ExecutionSpace()), -4, 5, 6); });
  EXPECT_EQ(to_string(Arithmetic::emulated), "emulated");
  EXPECT_EQ(arithmetic_from("native"), Arithmetic::native);
  test::expect_refusal(ErrorKind::argument, "arithmetic 'exact': expected one of native, emulated, auto",
                       [&] { static_cast<void>(arithmetic_from("exact")); });
}

}  // namespace
}  // namespace heddle::emulation_test
