// Loops on the host's threads, and the sums over matrices that the check of products makes with them.
#include "drivers/support/matrices/host_parts.hpp"

#include "drivers/support/matrices/host_threads.hpp"
#include "support/matrices.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace heddle::driver::host_parts_test {
namespace {

// A free function: nvcc takes no kernel of a member that is not public, as a test's body is.
template <Scalar T> void fill_row_and_column(const DistributedMatrix<T>& A, Index row, Index column, T value) {
  const auto local = A.local();
  const auto rows = A.placement().row_axis();
  const int p = A.grid_row();
  Kokkos::parallel_for(
      "heddle::test::odd", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, local.extent(0)),
      KOKKOS_LAMBDA(Index i) {
        local(i, column) = value;
        for (std::size_t j = 0; rows.global(p, i) == row && j < local.extent(1); ++j) local(i, j) = value;
      });
  Kokkos::fence();
}

TEST(HostThreads, DoEachPartOnce) {
  const Communicator comm = test::world();
  for (const Index parts : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> done(static_cast<std::size_t>(parts));
    const auto body = [&](Index part) { ++done[static_cast<std::size_t>(part)]; };
    on_host_threads(comm, parts, body);
    for (const auto& times : done) EXPECT_EQ(times, 1);
    for (const Index threads : {-1, 0, 1, 3, 16}) on_own_threads(threads, parts, body);
    for (const auto& times : done) EXPECT_EQ(times, 6);
  }
}

TEST(HostThreads, ThrowWhatTheLowestPartThrewOnceAllAreDone) {
  const Communicator comm = test::world();
  std::atomic<int> done = 0;
  const auto body = [&](Index part) {
    ++done;
    if (part % 10 == 3) throw std::runtime_error(std::to_string(part));
  };
  const auto thrown = [&](const auto& loop) -> std::string {
    done = 0;
    try {
      loop();
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(done, 100);
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(thrown([&] { on_host_threads(comm, 100, body); }), "3");
  for (const Index threads : {1, 4}) {
    EXPECT_EQ(thrown([&] { on_own_threads(threads, 100, body); }), "3");
  }
}

template <class T> class HostPartsOf : public ::testing::Test {
 protected:
  using Number = SumOf<T>;
  Communicator comm = test::world();

  DistributedMatrix<T> matrix(Index rows, Index columns) {
    DistributedMatrix<T> A(comm, Placement::block_cyclic(rows, columns, 1500, 40, comm.size(), 1));
    fill(A, test::RandomEntries<T>{1});
    Kokkos::fence();
    return A;
  }
  // Row i of op(A) x by long sums, with the sum of sizes, of elements that are finite.
  using Long = std::complex<long double>;
  std::pair<Long, long double> row_of(const HostMatrix<T>& A, Operation op, Index i, const ScaledSums<Number>& x) {
    Long sum = 0;
    long double size = 0;
    for (std::size_t k = 0; k < x.size.size(); ++k) {
      std::complex<double> a = sum_of(op == Operation::none ? A(i, k) : A(k, i));
      if (!is_finite(a)) continue;
      if (op == Operation::conjugate_transpose) a = std::conj(a);
      const long double scale = std::ldexp(1.0L, x.exponent[k]);
      sum += Long(a) * Long(std::complex<double>(x.number[k])) * scale;
      size += std::abs(Long(a)) * static_cast<long double>(x.size[k]) * scale;
    }
    return {sum, size};
  }
  void expect_product(const DistributedMatrix<T>& A, Operation op, const ScaledSums<Number>& x) {
    const auto y = HostParts<T>(A).multiply(op, x);
    const auto again = HostParts<T>(A).multiply(op, x);
    EXPECT_EQ(y.number, again.number);
    EXPECT_EQ(y.size, again.size);
    const HostMatrix<T> all = gather(A, 0);
    if (comm.rank() != 0) return;
    const long double bound = 4 * (static_cast<double>(x.size.size()) + 8) * unit_roundoff<double>;
    for (std::size_t i = 0; i < y.size.size(); ++i) {
      const auto [number, size] = row_of(all, op, static_cast<Index>(i), x);
      const long double scale = std::ldexp(1.0L, y.exponent[i]);
      ASSERT_LE(std::abs(Long(std::complex<double>(y.number[i])) * scale - number), bound * size) << i;
      ASSERT_LE(std::abs(y.size[i] * scale - size), bound * size) << i;
    }
  }
  ScaledSums<Number> factors(Index count) {
    ScaledSums<Number> x(static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < x.size.size(); ++k) {
      x.number[k] = std::sin(static_cast<double>(k) + 1.0);
      if constexpr (is_complex<T>) x.number[k] += std::complex<double>(0, std::cos(static_cast<double>(k)));
      x.size[k] = std::abs(x.number[k]);
      x.exponent[k] = static_cast<int>(k % 5) - 2;
    }
    return x;
  }
};
TYPED_TEST_SUITE(HostPartsOf, test::AllScalars);

constexpr Operation operations[] = {Operation::none, Operation::transpose, Operation::conjugate_transpose};

// Matrices of one element, of columns beside eights, and of more rows and columns than a tile has.
TYPED_TEST(HostPartsOf, MultiplyAsLongSumsDo) {
  for (const auto& [rows, columns] : {std::pair(1, 1), std::pair(3, 70), std::pair(4133, 5), std::pair(2500, 333),
                                      std::pair(40, 3001), std::pair(0, 3), std::pair(3, 0)}) {
    const auto A = this->matrix(rows, columns);
    for (const Operation op : operations) {
      this->expect_product(A, op, this->factors(op == Operation::none ? columns : rows));
    }
  }
}

// Elements and rows that sums have to be scaled for, that are zero, and that are not finite.
TYPED_TEST(HostPartsOf, LeaveOutNothingButWhatIsNotFinite) {
  using T = TypeParam;
  using Limits = std::numeric_limits<Real<T>>;
  for (const double odd : {0.0, static_cast<double>(Limits::denorm_min()), static_cast<double>(Limits::max()) / 4096,
                           static_cast<double>(Limits::infinity()), static_cast<double>(Limits::quiet_NaN())}) {
    const auto A = this->matrix(2300, 70);
    fill_row_and_column<T>(A, 7, 11, T(static_cast<Real<T>>(odd)));
    for (const Operation op : operations) {
      this->expect_product(A, op, this->factors(op == Operation::none ? 70 : 2300));
      HostParts<T> parts(A);
      EXPECT_EQ(parts.finite(), std::isfinite(odd));
      std::vector<int> expected(static_cast<std::size_t>(op == Operation::none ? 2300 : 70),
                                std::isfinite(odd) ? 0 : 1);
      EXPECT_EQ(parts.rows_not_finite(op), expected);
    }
  }
}

TYPED_TEST(HostPartsOf, NormsOfRows) {
  using T = TypeParam;
  using Limits = std::numeric_limits<Real<T>>;
  for (const int exponent : {0, Limits::max_exponent - 2, Limits::min_exponent + 20}) {
    const auto A = this->matrix(2300, 70);
    scale(T(std::ldexp(Real<T>(1), exponent)), A);
    Kokkos::fence();
    const HostMatrix<T> all = gather(A, 0);
    for (const Operation op : operations) {
      const auto norms = HostParts<T>(A).norms_of_rows(op);
      if (this->comm.rank() != 0) continue;
      for (std::size_t i = 0; i < norms.size.size(); ++i) {
        long double sum = 0;
        for (std::size_t k = 0; k < all.extent(op == Operation::none ? 1 : 0); ++k) {
          const auto element = sum_of(op == Operation::none ? all(i, k) : all(k, i));
          sum += std::norm(std::complex<long double>(std::complex<double>(element)));
        }
        const double expected = std::ldexp(static_cast<double>(std::sqrt(sum)), -exponent);
        ASSERT_NEAR(std::ldexp(norms.size[i], norms.exponent[i] - exponent), expected, 1e-12 * expected);
      }
    }
  }
}

}  // namespace
}  // namespace heddle::driver::host_parts_test
