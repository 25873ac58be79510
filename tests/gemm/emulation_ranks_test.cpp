// Emulated products over all ranks: plans, probes and the choice of arithmetic.
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/core/error.hpp>
#include <heddle/gemm/gemm.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace heddle::emulation_ranks_test {
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

// Random numbers times 2^e, with e anywhere within +-most.
template <Scalar T> void fill_spread(const DistributedMatrix<T>& A, int most, int seed) {
  fill(
      A, KOKKOS_LAMBDA(Index i, Index j) {
        const double unit = test::random_number(i, j, seed + 50);
        const auto power = static_cast<Real<T>>(Kokkos::exp2(static_cast<double>(static_cast<int>(most * unit))));
        return test::RandomEntries<T>{seed}(i, j) * power;
      });
}

// op(A) op(B) for fixed matrices, in any placement.
template <Scalar T>
HostMatrix<T> product(const Communicator& comm, const Placement& a, const Placement& b, const Placement& c,
                      const GemmOptions& options, T beta = T(0)) {
  const auto A = test::random_matrix<T>(comm, a, 1);
  const auto B = test::random_matrix<T>(comm, b, 2);
  const auto C = test::random_matrix<T>(comm, c, 3);
  const GemmReport report = gemm(comm, Operation::none, Operation::transpose, T(1), A, B, beta, C, options);
  EXPECT_EQ(report.arithmetic, Arithmetic::emulated);
  EXPECT_EQ(report.emulation.moduli, sizeof(Real<T>) == 4 ? 7 : is_complex<T> ? 15 : 14);
  EXPECT_EQ(report.emulation.error_bound, emulation_error<T>(A.columns(), report.emulation.moduli));
  EXPECT_GE(report.emulation.spread, 1.0);
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
    GemmOptions by_slices = emulated(16);
    by_slices.emulation.scheme = EmulationScheme::slices;
    expect_same(product<T>(this->comm, Placement::row_bands(m, k, ranks), Placement::column_bands(n, k, ranks),
                           Placement::row_bands(m, n, ranks), by_slices, beta),
                "by slices");
    by_slices.arithmetic = Arithmetic::automatic;
    test::expect_refusal(ErrorKind::argument, "chooses among native and emulated products by residues", [&] {
      product<T>(this->comm, Placement::row_bands(m, k, ranks), Placement::column_bands(n, k, ranks),
                 Placement::row_bands(m, n, ranks), by_slices, beta);
    });
    const auto a = test::placements_of(m, k, ranks);
    const auto b = test::placements_of(n, k, ranks);
    const auto c = test::placements_of(m, n, ranks);
    for (std::size_t p = 0; p < a.size(); ++p) {
      expect_same(product<T>(this->comm, a[p], b[(p + 1) % b.size()], c[(p + 2) % c.size()], emulated(16, 1), beta),
                  a[p].describe());
    }
  }
}

// All ranks together find the moduli that the exponents need, the same for any tiles.
TYPED_TEST(EmulatedPlan, ProbesAllOfTheFactors) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  const Communicator alone(MPI_COMM_SELF);
  constexpr Index m = 45, n = 38, k = 70;
  const auto found = [&](const Communicator& world, int most, const GemmOptions& options, GemmReport& report) {
    const DistributedMatrix<T> A(world, Placement::row_bands(m, k, world.size()));
    const DistributedMatrix<T> B(world, Placement::column_bands(k, n, world.size()));
    const DistributedMatrix<T> C(world, Placement::row_bands(m, n, world.size()));
    fill_spread(A, most, 1);
    fill_spread(B, most, 2);
    report = gemm(world, Operation::none, Operation::none, T(1), A, B, T(0), C, options);
    return gather(C, 0);
  };
  for (const int most : {0, 8, std::numeric_limits<Real<T>>::max_exponent / 2 - 6}) {
    GemmReport expected_report;
    const auto expected = found(alone, most, emulated(), expected_report);
    EXPECT_EQ(expected_report.emulation.fallback.has_value(), most > 8);
    if (most == 8) {
      EXPECT_GT(expected_report.emulation.moduli, emulation_moduli<T>(k));
    }
    for (const Index tile : {0, 7, 16}) {
      GemmReport report;
      const auto C = found(this->comm, most, emulated(tile, tile == 16 ? 1 : 0), report);
      EXPECT_EQ(report.emulation.moduli, expected_report.emulation.moduli);
      EXPECT_EQ(report.emulation.spread, expected_report.emulation.spread);
      EXPECT_EQ(report.emulation.fallback, expected_report.emulation.fallback);
      if (this->comm.rank() == 0) {
        EXPECT_TRUE(test::same_bits(C, expected)) << ranks << " ranks, tile " << tile << ", exponents " << most;
      }
    }
  }
}

// The faster arithmetic by given rates is chosen.
TYPED_TEST(EmulatedPlan, AutomaticAsksTheModel) {
  using T = TypeParam;
  const Placement rows = Placement::row_bands(64, 64, this->comm.size());
  const Placement columns = Placement::column_bands(64, 64, this->comm.size());
  const auto A = test::random_matrix<T>(this->comm, rows, 1);
  const auto B = test::random_matrix<T>(this->comm, columns, 2);
  const DistributedMatrix<T> C(this->comm, rows);
  for (const double rate : {1e6, 1e12}) {
    GemmOptions options;
    options.arithmetic = Arithmetic::automatic;
    MachineRates rates;
    rates.gemm = {{16, 1e9, 0.0}, {64, 1e9, 0.0}};
    rates.emulated = {{16, rate, 0.0}, {64, rate, 0.0}};
    rates.memory_bandwidth = 1e10;
    rates.link_bandwidth = 1e10;
    rates.latency = 1e-6;
    options.rates = rates;
    const GemmReport report = gemm(this->comm, Operation::none, Operation::none, T(1), A, B, T(0), C, options);
    EXPECT_EQ(report.arithmetic, rate > 1e9 ? Arithmetic::emulated : Arithmetic::native);
    EXPECT_TRUE(report.predicted_seconds.has_value());
    EXPECT_EQ(report.emulation.moduli > 0, rate > 1e9);
  }
}

// A plan does not reuse the last factors.
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
  test::expect_refusal(ErrorKind::argument, "emulation: 3 moduli; expected 7 to 31, or 0 for as many as",
                       [&] { GemmPlan<double>(comm, Operation::none, bands, Operation::none, bands, bands, options); });
}

}  // namespace
}  // namespace heddle::emulation_ranks_test
