// Rank-k updates of a triangle, over all ranks and for Views: compared with sums in long double and an emulated gemm's
// bits; elements that BLAS leaves alone; and half of the work.
#include "over_ranks.hpp"
#include "support/errors.hpp"
#include "wide.hpp"
#include <heddle/gemm/gemm.hpp>
#include <heddle/solve/syrk.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace heddle::syrk_test {
namespace {

using test::wide;
using test::Wide;

template <Scalar T> bool same_bits(const T& one, const T& other) {
  return std::memcmp(&one, &other, sizeof(T)) == 0;
}
bool inside(Triangle triangle, std::size_t i, std::size_t j) {
  return triangle == Triangle::lower ? i >= j : i <= j;
}
constexpr Triangle triangles[] = {Triangle::lower, Triangle::upper};

// An update: its triangle, operation, kind and coefficients.
template <Scalar T> struct Update {
  Triangle triangle;
  Operation op;
  bool hermitian;
  T alpha;
  T beta;

  [[nodiscard]] Operation turned() const {
    if (op != Operation::none) return Operation::none;
    return hermitian ? Operation::conjugate_transpose : Operation::transpose;
  }
  // Element (i, k) of op(A).
  [[nodiscard]] T left(const HostMatrix<T>& A, std::size_t i, std::size_t k) const {
    if (op == Operation::none) return A(i, k);
    return op == Operation::transpose ? A(k, i) : conjugate(A(k, i));
  }
  // Return 0 if every element of the triangle is within `products` (k + 4) u (|alpha| |A| |A'| + |beta| |C|), otherwise
  // the largest error in units of that; infinite if the other triangle changed, or a diagonal is not real.
  [[nodiscard]] double excess(const HostMatrix<T>& A, const HostMatrix<T>& before, const HostMatrix<T>& found,
                              double products) const {
    const std::size_t n = before.extent(0);
    const std::size_t inner = op == Operation::none ? A.extent(1) : A.extent(0);
    double worst = 0;
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) {
        if (!inside(triangle, i, j)) {
          if (!same_bits(before(i, j), found(i, j))) return INFINITY;
          continue;
        }
        Wide<T> sum = 0;
        long double sizes = 0;
        long double norm_i = 0;
        long double norm_j = 0;
        for (std::size_t k = 0; k < inner && alpha != T(0); ++k) {
          const Wide<T> a = wide(left(A, i, k));
          const Wide<T> other = wide(hermitian ? conjugate(left(A, j, k)) : left(A, j, k));
          sum += a * other;
          sizes += std::abs(a) * std::abs(other);
          norm_i += std::abs(a) * std::abs(a);
          norm_j += std::abs(other) * std::abs(other);
        }
        sum *= wide(alpha);
        // Emulated products are bounded by norms, which are no smaller than sums of sizes.
        sizes = std::max(sizes, std::sqrt(norm_i * norm_j)) * std::abs(wide(alpha));
        if (beta != T(0)) {
          const Wide<T> c = hermitian && i == j ? Wide<T>(real_of<long double>(before(i, j))) : wide(before(i, j));
          sum += wide(beta) * c;
          sizes += std::abs(wide(beta)) * std::abs(c);
        }
        if (hermitian && i == j) {
          if (imaginary_of<double>(found(i, j)) != 0) return INFINITY;
          sum = Wide<T>(std::real(sum));
        }
        const auto bound = static_cast<long double>(unit_roundoff<T>) * (static_cast<long double>(inner) + 4) * sizes;
        const long double off = std::abs(wide(found(i, j)) - sum);
        if (!(off <= static_cast<long double>(products) * bound)) {
          worst = std::max(worst, off > 0 && bound == 0 ? INFINITY : static_cast<double>(off / bound));
          if (std::isnan(static_cast<double>(off))) return INFINITY;
        }
      }
    }
    return worst;
  }
};

template <class T> class RankUpdates : public test::OverRanks<T> {
 protected:
  using test::OverRanks<T>::comm;

  [[nodiscard]] Placement bands(const HostMatrix<T>& A) const {
    return Placement::row_bands(static_cast<Index>(A.extent(0)), static_cast<Index>(A.extent(1)), comm.size());
  }
  [[nodiscard]] Placement blocks(const HostMatrix<T>& A) const {
    return Placement::block_cyclic(static_cast<Index>(A.extent(0)), static_cast<Index>(A.extent(1)), 5, 3, 1,
                                   comm.size());
  }
  SyrkReport update(const Update<T>& of, const DistributedMatrix<T>& A, const DistributedMatrix<T>& C,
                    const SyrkOptions& options) const {
    if (!of.hermitian) return syrk(comm, of.triangle, of.op, of.alpha, A, of.beta, C, options);
    return herk(comm, of.triangle, of.op, real_of<Real<T>>(of.alpha), A, real_of<Real<T>>(of.beta), C, options);
  }
  SyrkReport update(const Update<T>& of, const MatrixView<T>& A, const MatrixView<T>& C,
                    const SyrkOptions& options) const {
    const ExecutionSpace& space = comm.space();
    if (!of.hermitian) return syrk(space, of.triangle, of.op, of.alpha, A, of.beta, C, options);
    return herk(space, of.triangle, of.op, real_of<Real<T>>(of.alpha), A, real_of<Real<T>>(of.beta), C, options);
  }
  // All triangles, operations and kinds, with these coefficients.
  [[nodiscard]] std::vector<Update<T>> all(T alpha, T beta) const {
    std::vector<Update<T>> updates;
    for (const Triangle triangle : triangles) {
      for (const bool turned : {false, true}) {
        updates.push_back({triangle, turned ? Operation::transpose : Operation::none, false, alpha, beta});
        if (is_complex<T>) {
          updates.push_back({triangle, turned ? Operation::conjugate_transpose : Operation::none, true,
                             T(real_of<Real<T>>(alpha)), T(real_of<Real<T>>(beta))});
        }
      }
    }
    return updates;
  }
  static HostMatrix<T> factor(const Update<T>& of, Index n, Index inner, int seed) {
    return of.op == Operation::none ? test::host_random<T>(n, inner, seed) : test::host_random<T>(inner, n, seed);
  }
  static T number(double real, double imaginary) {
    if constexpr (is_complex<T>) {
      return T(static_cast<Real<T>>(real), static_cast<Real<T>>(imaginary));
    } else {
      return static_cast<T>(real + 0 * imaginary);
    }
  }
};
TYPED_TEST_SUITE(RankUpdates, test::AllScalars);

template <Scalar T> std::string words(const Update<T>& of, Arithmetic arithmetic, Index n, Index inner) {
  return message_of(of.hermitian ? "herk " : "syrk ", of.triangle == Triangle::lower ? "lower " : "upper ",
                    to_string(of.op), ", ", to_string(arithmetic), ", n = ", n, ", k = ", inner);
}

TYPED_TEST(RankUpdates, AreThoseOfTheirDefinition) {
  using T = TypeParam;
  for (const auto& [n, inner] : {std::pair<Index, Index>{1, 1}, {7, 3}, {33, 20}, {50, 71}}) {
    for (const Update<T>& of : this->all(this->number(1.25, -0.5), this->number(-0.75, 2))) {
      for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
        SCOPED_TRACE(words(of, arithmetic, n, inner));
        const HostMatrix<T> A = this->factor(of, n, inner, 3);
        const HostMatrix<T> before = test::host_random<T>(n, n, 4);
        const SyrkOptions options{.arithmetic = arithmetic, .block = 8};
        const auto C = this->spread(before, this->blocks(before));
        const SyrkReport report = this->update(of, this->spread(A, this->bands(A)), C, options);
        EXPECT_LE(of.excess(A, before, this->everywhere(C), is_complex<T> ? 4.0 : 1.0), 0.0);
        EXPECT_EQ(report.arithmetic, arithmetic);
        // Half of the products, and the other half of tiles on the diagonal.
        double expected = 0;
        for (Index i = 0; i < n; i += 8)
          expected += static_cast<double>(std::min<Index>(8, n - i) * std::min(i + 8, n));
        EXPECT_EQ(report.multiply_adds, expected * static_cast<double>(inner));
      }
    }
  }
}

TYPED_TEST(RankUpdates, HaveTheSameBitsOnAnyRanksAndAsViews) {
  using T = TypeParam;
  const Index n = 75;
  const Index inner = 60;
  for (const Update<T>& of : this->all(this->number(-1, 0.5), this->number(0.5, 0.25))) {
    const HostMatrix<T> A = this->factor(of, n, inner, 13);
    const HostMatrix<T> before = test::host_random<T>(n, n, 14);
    for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
      SCOPED_TRACE(words(of, arithmetic, n, inner));
      const SyrkOptions options{.arithmetic = arithmetic, .block = 16};
      const MatrixView<T> view = test::padded_on_device<T>(before);
      this->update(of, test::padded_on_device<T>(A), view, options);
      const HostMatrix<T> expected = test::to_host<T>(view);
      for (const bool in_bands : {false, true}) {
        const auto C = this->spread(before, in_bands ? this->bands(before) : this->blocks(before));
        this->update(of, this->spread(A, in_bands ? this->blocks(A) : this->bands(A)), C, options);
        const HostMatrix<T> found = this->everywhere(C);
        EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(T)), 0);
      }
    }
    // Emulated bits do not depend on the tile, and are those of a gemm.
    for (const Index block : {7, 0}) {
      const auto C = this->spread(before, this->blocks(before));
      this->update(of, this->spread(A, this->bands(A)), C, {.arithmetic = Arithmetic::emulated, .block = block});
      const auto whole = this->spread(before, this->bands(before));
      const auto factor = this->spread(A, this->bands(A));
      if (of.hermitian) {
        // herk() takes the diagonal of C as real.
        const HostMatrix<T> real = test::host_matrix<T>(n, n, [&](Index i, Index j) {
          const T c = before(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
          return i == j ? T(real_of<Real<T>>(c)) : c;
        });
        scatter(real, 0, whole);
      }
      gemm(this->comm, of.op, of.turned(), of.alpha, factor, factor, of.beta, whole,
           {.arithmetic = Arithmetic::emulated, .emulation = {.look = false}});
      const HostMatrix<T> found = this->everywhere(C);
      const HostMatrix<T> expected = this->everywhere(whole);
      for (std::size_t j = 0; j < found.extent(1); ++j) {
        for (std::size_t i = 0; i < found.extent(0); ++i) {
          const T e = of.hermitian && i == j ? T(real_of<Real<T>>(expected(i, j))) : expected(i, j);
          if (inside(of.triangle, i, j)) {
            EXPECT_TRUE(same_bits(found(i, j), e)) << i << ", " << j << ", block " << block;
          }
        }
      }
    }
  }
}

TYPED_TEST(RankUpdates, ReadNothingThatCoefficientsSwitchOff) {
  using T = TypeParam;
  const T nan(std::numeric_limits<Real<T>>::quiet_NaN());
  const Index n = 21;
  const auto filled = [&](Index rows, Index columns, const T& value) {
    return test::host_matrix<T>(rows, columns, [&](Index, Index) { return value; });
  };
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    const SyrkOptions options{.arithmetic = arithmetic, .block = 8};
    // With beta = 0, NaNs in C are not read, and stay in the other triangle.
    for (const Update<T>& of : this->all(T(2), T(0))) {
      SCOPED_TRACE(words(of, arithmetic, n, 9));
      const HostMatrix<T> A = this->factor(of, n, 9, 23);
      const HostMatrix<T> before = filled(n, n, nan);
      const auto C = this->spread(before, this->blocks(before));
      this->update(of, this->spread(A, this->bands(A)), C, options);
      EXPECT_LE(of.excess(A, before, this->everywhere(C), is_complex<T> ? 4.0 : 1.0), 0.0);
    }
    // With alpha = 0, NaNs in A are not read, and nothing is multiplied.
    for (const Update<T>& of : this->all(T(0), T(3))) {
      SCOPED_TRACE(words(of, arithmetic, n, 9));
      const HostMatrix<T> A = of.op == Operation::none ? filled(n, 9, nan) : filled(9, n, nan);
      const HostMatrix<T> before = test::host_random<T>(n, n, 24);
      const auto C = this->spread(before, this->blocks(before));
      EXPECT_EQ(this->update(of, this->spread(A, this->bands(A)), C, options).multiply_adds, 0.0);
      EXPECT_LE(of.excess(A, before, this->everywhere(C), 1.0), 0.0);
    }
    // Without an inner dimension C = beta C, and zero if beta is.
    for (const T& beta : {T(0), T(1), T(-2)}) {
      for (const Update<T>& of : this->all(T(1), beta)) {
        SCOPED_TRACE(words(of, arithmetic, n, 0));
        const HostMatrix<T> A = this->factor(of, n, 0, 1);
        const HostMatrix<T> before = beta == T(0) ? filled(n, n, nan) : test::host_random<T>(n, n, 25);
        const auto C = this->spread(before, this->bands(before));
        this->update(of, this->spread(A, this->bands(A)), C, options);
        EXPECT_LE(of.excess(A, before, this->everywhere(C), 1.0), 0.0);
      }
    }
    // Empty matrices.
    const HostMatrix<T> empty("empty", 0, 0);
    const HostMatrix<T> none("none", 0, 4);
    const auto C = this->spread(empty, this->bands(empty));
    EXPECT_EQ(syrk(this->comm, Triangle::lower, Operation::none, T(1), this->spread(none, this->bands(none)), T(1), C,
                   options)
                  .gflops,
              0.0);
  }
}

TYPED_TEST(RankUpdates, OfInfinitiesAndDenormalsAreThoseOfProducts) {
  using T = TypeParam;
  const Index n = 12;
  // A row with an infinity, and one of numbers whose squares underflow.
  const T tiny(std::numeric_limits<Real<T>>::denorm_min() * Real<T>(5));
  const HostMatrix<T> A = test::host_matrix<T>(n, 4, [&](Index i, Index j) {
    if (i == 3 && j == 1) return T(std::numeric_limits<Real<T>>::infinity());
    return i == 7 ? tiny : T(static_cast<Real<T>>(1 + (i + j) % 3));
  });
  const HostMatrix<T> zeros("zeros", n, n);
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    const auto C = this->spread(zeros, this->blocks(zeros));
    herk(this->comm, Triangle::lower, Operation::none, Real<T>(1), this->spread(A, this->bands(A)), Real<T>(0), C,
         {.arithmetic = arithmetic, .block = 5});
    const HostMatrix<T> found = this->everywhere(C);
    EXPECT_FALSE(std::isfinite(real_of<double>(found(5, 3)))) << to_string(arithmetic);
    EXPECT_FALSE(std::isfinite(real_of<double>(found(3, 3)))) << to_string(arithmetic);
    EXPECT_EQ(found(7, 7), T(0)) << to_string(arithmetic);
    EXPECT_EQ(found(7, 0), tiny * T(static_cast<Real<T>>(1 + 2 + 3 + 1))) << to_string(arithmetic);
  }
}

TYPED_TEST(RankUpdates, RefuseWhatCannotBe) {
  using T = TypeParam;
  const auto matrix = [&](Index rows, Index columns) {
    const HostMatrix<T> host = test::host_random<T>(rows, columns, 1);
    return this->spread(host, this->bands(host));
  };
  const auto lower = Triangle::lower;
  const auto refused = [&](const std::string& why, Operation op, const DistributedMatrix<T>& A,
                           const DistributedMatrix<T>& C, const SyrkOptions& options = {}) {
    test::expect_refusal(ErrorKind::argument, why, [&] { syrk(this->comm, lower, op, T(1), A, T(1), C, options); });
  };
  refused("syrk: C is 3 x 4; expected a square matrix", Operation::none, matrix(3, 2), matrix(3, 4));
  refused("syrk: A has 2 rows; expected 4", Operation::none, matrix(2, 4), matrix(4, 4));
  refused("syrk: A has 4 columns; expected 2", Operation::transpose, matrix(2, 4), matrix(2, 2));
  refused("syrk: block -1; expected", Operation::none, matrix(2, 2), matrix(2, 2), {.block = -1});
  refused("syrk: 40 moduli; expected", Operation::none, matrix(2, 2), matrix(2, 2), {.moduli = 40});
  const auto same = matrix(9, 9);
  refused("shares storage", Operation::none, same, same);
  if (is_complex<T>) {
    refused("syrk: operation C of complex matrices; expected N or T", Operation::conjugate_transpose, matrix(2, 2),
            matrix(2, 2));
    test::expect_refusal(ErrorKind::argument, "herk: operation T of complex matrices; expected N or C", [&] {
      herk(this->comm, lower, Operation::transpose, Real<T>(1), matrix(2, 2), Real<T>(1), matrix(2, 2));
    });
  } else {
    // For real matrices it is the transpose.
    EXPECT_EQ(
        syrk(this->comm, lower, Operation::conjugate_transpose, T(1), matrix(2, 2), T(1), matrix(2, 2)).multiply_adds,
        8.0);
  }
  const LocalMatrix<T> memory("memory", 10, 10);
  const MatrixView<T> by_rows(memory.data(), Kokkos::LayoutStride(3, 10, 3, 1));
  const MatrixView<T> good(memory.data() + 50, Kokkos::LayoutStride(3, 1, 3, 10));
  test::expect_refusal(ErrorKind::argument, "syrk: A is 3 x 3 with strides 10 and 1; expected a column-major matrix",
                       [&] { syrk(this->comm.space(), lower, Operation::none, T(1), by_rows, T(0), good); });
  test::expect_refusal(
      ErrorKind::argument, "herk: C is 3 x 3 with strides 10 and 1; expected a column-major matrix",
      [&] { herk(this->comm.space(), lower, Operation::none, Real<T>(1), good, Real<T>(0), by_rows); });
}

}  // namespace
}  // namespace heddle::syrk_test
