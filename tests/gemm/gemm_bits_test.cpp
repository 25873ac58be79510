// Reproducibility of gemm and expm: bits over ranks, placements and transports.
#include "support/matrices.hpp"
#include <heddle/comm/transport.hpp>
#include <heddle/expm/expm.hpp>
#include <heddle/gemm/gemm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

namespace heddle::gemm_bits_test {
namespace {

template <class T> class GemmBits : public ::testing::Test {};
TYPED_TEST_SUITE(GemmBits, test::AllScalars);

// The product on one rank alone with the same tile; any number of ranks must give its bits.
template <Scalar T>
HostMatrix<T> product_on(const Communicator& comm, const Placement& a, const Placement& b, const Placement& c, T beta,
                         const GemmOptions& options) {
  const auto A = test::random_matrix<T>(comm, a, 1);
  const auto B = test::random_matrix<T>(comm, b, 2);
  const auto C = test::random_matrix<T>(comm, c, 3);
  gemm<T>(comm, Operation::none, Operation::none, T(1.25), A, B, beta, C, options);
  return gather(C, 0);
}

TYPED_TEST(GemmBits, AreTheSameForAnyRanksGridsPlacementsAndPasses) {
  using T = TypeParam;
  const Communicator comm = test::world();
  const Communicator alone(MPI_COMM_SELF);
  // Inner dimension above a BLAS's own blocking, and tiles that don't divide.
  const Index m = 83;
  const Index n = 71;
  const Index k = 611;
  for (const T beta : {T(0), T(0.75)}) {
    for (const Index tile : {16, 37}) {
      const auto reference = product_on<T>(alone, Placement::on_rank(m, k, 0), Placement::on_rank(k, n, 0),
                                           Placement::on_rank(m, n, 0), beta, {.tile = tile});
      const auto of_a = test::placements_of(m, k, comm.size());
      const auto of_b = test::placements_of(k, n, comm.size());
      const auto of_c = test::placements_of(m, n, comm.size());
      for (std::size_t p = 0; p < of_a.size(); ++p) {
        for (const int bands : {1, 2, 0}) {
          const int columns = bands == 2 && comm.size() % 2 == 0 ? 2 : bands == 0 ? comm.size() : 1;
          const ProcessGrid grid{comm.size() / columns, columns};
          const auto found = product_on<T>(comm, of_a[p], of_b[(p + 1) % of_b.size()], of_c[(p * 3 + 2) % of_c.size()],
                                           beta, {.tile = tile, .bands_per_pass = bands, .grid = grid});
          if (comm.rank() == 0) {
            EXPECT_TRUE(test::same_bits(found, reference)) << of_a[p].describe() << ", " << bands << " bands a pass";
          }
        }
      }
    }
  }
}

TYPED_TEST(GemmBits, AreTheSameForTilesOfSeveralThreadBlocks) {
  using T = TypeParam;
  const Communicator comm = test::world();
  const Communicator alone(MPI_COMM_SELF);
  // With an odd tile, operands are not aligned for a vendor's fast kernels.
  for (const Index tile : {256, 257}) {
    const Index m = 600;
    const Index n = 530;
    const Index k = 700;
    const auto reference = product_on<T>(alone, Placement::on_rank(m, k, 0), Placement::on_rank(k, n, 0),
                                         Placement::on_rank(m, n, 0), T(0), {.tile = tile});
    const int last = comm.size() - 1;
    const std::array<std::array<Placement, 3>, 3> placements = {
        {{Placement::row_bands(m, k, comm.size()), Placement::column_bands(k, n, comm.size()),
          Placement::row_bands(m, n, comm.size())},
         {Placement::on_rank(m, k, last), Placement::on_rank(k, n, last / 2), Placement::on_rank(m, n, 0)},
         {Placement::block_cyclic(m, k, 33, 64, comm.size(), 1), Placement::row_bands(k, n, comm.size()),
          Placement::block_cyclic(m, n, 64, 31, 1, comm.size())}}};
    for (const auto& [a, b, c] : placements) {
      const auto found = product_on<T>(comm, a, b, c, T(0), {.tile = tile});
      if (comm.rank() == 0) {
        EXPECT_TRUE(test::same_bits(found, reference)) << a.describe() << ", tile " << tile;
      }
    }
  }
}

// Odd extents, edges of one row or column, and an inner dimension that a vendor's BLAS may cut: bits must not depend on
// the rank that computes a tile, nor on the memory of its operands.
TYPED_TEST(GemmBits, AreTheSameForTilesThatLieOddly) {
  using T = TypeParam;
  const Communicator comm = test::world();
  const Communicator alone(MPI_COMM_SELF);
  const Index k = 1000;
  for (const auto& [m, n, tile] : {std::array<Index, 3>{321, 129, 64}, {129, 257, 128}, {65, 33, 16}}) {
    const auto reference = product_on<T>(alone, Placement::on_rank(m, k, 0), Placement::on_rank(k, n, 0),
                                         Placement::on_rank(m, n, 0), T(0), {.tile = tile});
    const int last = comm.size() - 1;
    const std::array<std::array<Placement, 3>, 3> placements = {
        {{Placement::row_bands(m, k, comm.size()), Placement::column_bands(k, n, comm.size()),
          Placement::row_bands(m, n, comm.size())},
         {Placement::on_rank(m, k, last), Placement::on_rank(k, n, 0), Placement::column_bands(m, n, comm.size())},
         {Placement::block_cyclic(m, k, 7, 64, comm.size(), 1), Placement::row_bands(k, n, comm.size()),
          Placement::on_rank(m, n, last)}}};
    for (const auto& [a, b, c] : placements) {
      const auto found = product_on<T>(comm, a, b, c, T(0), {.tile = tile});
      if (comm.rank() == 0) {
        EXPECT_TRUE(test::same_bits(found, reference)) << a.describe() << ", tile " << tile;
      }
    }
  }
}

// The published choice of the tile has the bits of the same tile given as an option.
TYPED_TEST(GemmBits, OfThePublishedTileAreThoseOfItsTileGiven) {
  using T = TypeParam;
  const Communicator comm = test::world();
  const Index n = comm.size() > 4 ? 240 : 96;
  const auto A = test::random_matrix<T>(comm, Placement::row_bands(n, n, comm.size()), 1);
  const auto B = test::random_matrix<T>(comm, Placement::column_bands(n, n, comm.size()), 2);
  MachineRates rates;
  rates.gemm = {{32, 5e9}, {256, 1e10}};
  rates.memory_bandwidth = 2e10 * sizeof(T);
  // The tile must stay below a rank's share, which shrinks with the number of ranks.
  rates.link_bandwidth = 1e9 * sizeof(T) * std::max(1, comm.size() / 2);
  const auto product = [&](const GemmOptions& options) {
    const DistributedMatrix<T> C(comm, A.placement());
    const GemmReport report = gemm<T>(comm, Operation::none, Operation::none, T(1.25), A, B, T(0), C, options);
    return std::pair(gather(C, 0), report.tile);
  };
  const auto [found, tile] = product({.choice = TileChoice::published, .rates = rates});
  EXPECT_EQ(tile, published_tile(rates, {n, n, n, comm.size(), sizeof(T), flops_per_multiply_add<T>}));
  EXPECT_LT(tile, n / comm.size());
  EXPECT_NE(tile, product({.rates = rates}).second) << "or the test shows nothing";
  const auto reference = product({.tile = tile}).first;
  if (comm.rank() == 0) EXPECT_TRUE(test::same_bits(found, reference)) << "tile " << tile;
}

TYPED_TEST(GemmBits, AreTheSameForAnyTransportAndMemory) {
  using T = TypeParam;
  const Communicator alone(MPI_COMM_SELF);
  const Index m = 83;
  const Index n = 71;
  const Index k = 611;
  for (const T beta : {T(0), T(0.75)}) {
    const auto reference = product_on<T>(alone, Placement::on_rank(m, k, 0), Placement::on_rank(k, n, 0),
                                         Placement::on_rank(m, n, 0), beta, {.tile = 16});
    for (const TransportKind kind : transport_kinds) {
      if (!availability(test::world(), kind).available) {
        continue;
      }
      setenv("HEDDLE_TRANSPORT", std::string(to_string(kind)).c_str(), 1);
      const Communicator comm = test::world();
      const auto of_a = test::placements_of(m, k, comm.size());
      const auto of_b = test::placements_of(k, n, comm.size());
      const auto of_c = test::placements_of(m, n, comm.size());
      for (std::size_t p = 0; p < of_a.size(); ++p) {
        // Each operand in device and in host memory, in every combination.
        const auto memory = [&](const Placement& placement, std::size_t bit) {
          return placement.in((p >> bit & 1) != 0 ? Residence::host : Residence::device);
        };
        const auto found =
            product_on<T>(comm, memory(of_a[p], 0), memory(of_b[(p + 2) % of_b.size()], 1),
                          memory(of_c[(p * 3 + 1) % of_c.size()], 2), beta, {.tile = 16, .bands_per_pass = 1});
        if (comm.rank() == 0) {
          EXPECT_TRUE(test::same_bits(found, reference))
              << to_string(kind) << ", A " << memory(of_a[p], 0).describe() << ", B "
              << memory(of_b[(p + 2) % of_b.size()], 1).describe() << ", C "
              << memory(of_c[(p * 3 + 1) % of_c.size()], 2).describe();
        }
      }
    }
    unsetenv("HEDDLE_TRANSPORT");
  }
}

TEST(ExpmBits, AreTheSameForAnyRanksAndPlacements) {
  const Communicator comm = test::world();
  const Communicator alone(MPI_COMM_SELF);
  const Index n = 45;
  const auto exponential = [&](const Communicator& on, const Placement& placement) {
    SplitMatrix<double> A{test::random_matrix<double>(on, placement, 1), test::random_matrix<double>(on, placement, 2)};
    const SplitMatrix<double> E{DistributedMatrix<double>(on, placement), DistributedMatrix<double>(on, placement)};
    ExpmOptions options;
    options.gemm.tile = 16;
    ExpmPlan<double>(on, options).execute(A, E);
    return std::pair(gather(*E.real, 0), gather(*E.imaginary, 0));
  };
  const auto reference = exponential(alone, Placement::on_rank(n, n, 0));
  for (const Placement& placement : test::placements_of(n, n, comm.size())) {
    const auto found = exponential(comm, placement);
    if (comm.rank() == 0) {
      EXPECT_TRUE(test::same_bits(found.first, reference.first)) << placement.describe();
      EXPECT_TRUE(test::same_bits(found.second, reference.second)) << placement.describe();
    }
  }
}

}  // namespace
}  // namespace heddle::gemm_bits_test
