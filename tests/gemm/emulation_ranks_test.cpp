#include "support/matrices.hpp"
#include <heddle/core/error.hpp>
#include <heddle/gemm/gemm.hpp>

#include <gtest/gtest.h>

namespace heddle {
namespace {

template <class T> class EmulatedPlan : public ::testing::Test {
 protected:
  Communicator comm = test::world();
};
TYPED_TEST_SUITE(EmulatedPlan, test::AllScalars);

GemmOptions emulated(Index tile = 0, int bands_per_pass = 0) {
  GemmOptions options;
  options.arithmetic = Arithmetic::emulated;
  options.tile = tile;
  options.bands_per_pass = bands_per_pass;
  return options;
}

// op(A) op(B) of fixed matrices, wherever they lie.
template <Scalar T>
HostMatrix<T> product(const Communicator& comm, const Placement& a, const Placement& b, const Placement& c,
                      const GemmOptions& options, T beta = T(0)) {
  const auto A = test::random_matrix<T>(comm, a, 1);
  const auto B = test::random_matrix<T>(comm, b, 2);
  const auto C = test::random_matrix<T>(comm, c, 3);
  const GemmReport report = gemm(comm, Operation::none, Operation::transpose, T(1), A, B, beta, C, options);
  EXPECT_EQ(report.moduli, sizeof(Real<T>) == 8 ? 14 : 7);
  EXPECT_EQ(report.error_bound, emulation_error<T>(A.columns(), report.moduli));
  return gather(C, 0);
}

TYPED_TEST(EmulatedPlan, HasTheSameBitsForAnyRanksTilesAndPlacements) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  const Communicator alone(MPI_COMM_SELF);
  constexpr Index m = 45, n = 38, k = 70;
  const auto on_one = [&](Index rows, Index columns) { return Placement::on_rank(rows, columns, 0); };
  for (const T beta : {T(0), T(-2)}) {
    const auto expected = product<T>(alone, on_one(m, k), on_one(n, k), on_one(m, n), emulated(), beta);
    const auto expect_same = [&](const HostMatrix<T>& found, const std::string& what) {
      if (this->comm.rank() == 0) {
        EXPECT_TRUE(test::same_bits(found, expected)) << what;
      }
    };
    for (const Index tile : {0, 7, 16, 64}) {
      expect_same(product<T>(this->comm, Placement::row_bands(m, k, ranks), Placement::column_bands(n, k, ranks),
                             Placement::row_bands(m, n, ranks), emulated(tile), beta),
                  "tile " + std::to_string(tile));
    }
    const auto a = test::placements_of(m, k, ranks);
    const auto b = test::placements_of(n, k, ranks);
    const auto c = test::placements_of(m, n, ranks);
    for (std::size_t p = 0; p < a.size(); ++p) {
      expect_same(product<T>(this->comm, a[p], b[(p + 1) % b.size()], c[(p + 2) % c.size()], emulated(16, 1), beta),
                  a[p].describe());
    }
  }
}

// A plan forgets the last factors.
TYPED_TEST(EmulatedPlan, TakesOtherMatricesEachTime) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  const Placement bands = Placement::row_bands(33, 33, ranks);
  const DistributedMatrix<T> C(this->comm, bands);
  GemmPlan<T> plan(this->comm, Operation::none, bands, Operation::none, bands, bands, emulated(16));
  for (const int seed : {1, 2, 3}) {
    const auto A = test::random_matrix<T>(this->comm, bands, seed);
    const auto B = test::random_matrix<T>(this->comm, bands, seed + 10);
    plan.execute(T(1), A, B, T(0), C);
    const DistributedMatrix<T> once(this->comm, bands);
    gemm(this->comm, Operation::none, Operation::none, T(1), A, B, T(0), once, emulated(33));
    const auto found = gather(C, 0);
    const auto expected = gather(once, 0);
    if (this->comm.rank() == 0) {
      EXPECT_TRUE(test::same_bits(found, expected)) << seed;
    }
  }
}

TEST(EmulatedPlanOptions, AreChecked) {
  const Communicator comm = test::world();
  const Placement bands = Placement::row_bands(8, 8, comm.size());
  GemmOptions options = emulated();
  options.emulation.moduli = 3;
  EXPECT_THROW(GemmPlan<double>(comm, Operation::none, bands, Operation::none, bands, bands, options), Error);
}

}  // namespace
}  // namespace heddle
