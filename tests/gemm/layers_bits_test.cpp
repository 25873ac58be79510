// Products in layers: the sums of the documentation, with the same bits for any ranks.
#include "support/matrices.hpp"
#include <heddle/comm/transport.hpp>
#include <heddle/gemm/gemm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace heddle::layers_bits_test {
namespace {

constexpr Index m = 83;
constexpr Index n = 71;
constexpr Index k = 611;

template <class T> class LayersBits : public ::testing::Test {
 protected:
  static constexpr Operation plain = Operation::none;
  Communicator comm = test::world();
  Communicator alone{MPI_COMM_SELF};

  [[nodiscard]] static std::vector<Placement> placements(Index rows, Index columns, int ranks) {
    std::vector<Placement> all = test::placements_of(rows, columns, ranks);
    std::erase_if(all, [](const Placement& one) { return one.residence() == Residence::host; });
    return all;
  }

  [[nodiscard]] static HostMatrix<T> product_on(const Communicator& on, const Placement& a, const Placement& b,
                                                const Placement& c, T beta, const GemmOptions& options) {
    const auto A = test::random_matrix<T>(on, a, 1);
    const auto B = test::random_matrix<T>(on, b, 2);
    const auto C = test::random_matrix<T>(on, c, 3);
    const GemmReport report = gemm<T>(on, plain, plain, T(1.25), A, B, beta, C, options);
    EXPECT_EQ(report.layers, std::max(options.layers, 1));
    return gather(C, 0);
  }

  // The sum, formed here, of one-layer products on one rank of the runs that end at `ends`.
  [[nodiscard]] HostMatrix<T> sum_of_runs(T beta, Index tile, const std::vector<Index>& ends) const {
    const auto A = test::random_matrix<T>(alone, Placement::on_rank(m, k, 0), 1);
    const auto B = test::random_matrix<T>(alone, Placement::on_rank(k, n, 0), 2);
    HostMatrix<T> sum;
    Index begin = 0;
    for (const Index end : ends) {
      const auto C = test::random_matrix<T>(alone, Placement::on_rank(m, n, 0), 3);
      const auto run = std::pair(begin, end);
      const DistributedMatrix<T> columns(alone, Placement::on_rank(m, end - begin, 0),
                                         MatrixView<T>(Kokkos::subview(A.local(), Kokkos::ALL, run)));
      const DistributedMatrix<T> rows(alone, Placement::on_rank(end - begin, n, 0),
                                      MatrixView<T>(Kokkos::subview(B.local(), run, Kokkos::ALL)));
      gemm<T>(alone, plain, plain, T(1.25), columns, rows, begin == 0 ? beta : T(0), C, {.tile = tile});
      const HostMatrix<T> of_run = gather(C, 0);
      if (begin == 0) {
        sum = of_run;
      } else {
        for (std::size_t j = 0; j < sum.extent(1); ++j) {
          for (std::size_t i = 0; i < sum.extent(0); ++i) sum(i, j) += of_run(i, j);
        }
      }
      begin = end;
    }
    return sum;
  }

  void expect_everywhere(const HostMatrix<T>& reference, T beta, Index tile, int layers) const {
    const auto of_a = placements(m, k, comm.size());
    const auto of_b = placements(k, n, comm.size());
    const auto of_c = placements(m, n, comm.size());
    const int ranks_of_group = comm.size() / std::gcd(layers, comm.size());
    std::vector<int> divisors;
    for (int columns = 1; columns <= ranks_of_group; ++columns) {
      if (ranks_of_group % columns == 0) divisors.push_back(columns);
    }
    // Many ranks have many placements: about a dozen are tested.
    for (std::size_t p = 0; p < of_a.size(); p += (of_a.size() + 11) / 12) {
      const int columns = divisors[(p + static_cast<std::size_t>(layers)) % divisors.size()];
      const GemmOptions options{.tile = tile,
                                .bands_per_pass = static_cast<int>(p % 3),
                                .grid = {ranks_of_group / columns, columns},
                                .layers = layers};
      const auto found =
          product_on(comm, of_a[p], of_b[(p + 1) % of_b.size()], of_c[(p * 3 + 2) % of_c.size()], beta, options);
      if (comm.rank() == 0) {
        EXPECT_TRUE(test::same_bits(found, reference))
            << of_a[p].describe() << ", " << layers << " layers, " << columns << " columns, tile " << tile;
      }
    }
  }
};
TYPED_TEST_SUITE(LayersBits, test::AllScalars);

// Runs begin at multiples of 64 if they are that long.
TYPED_TEST(LayersBits, AreThoseOfTheFormulaForAnyRanksGridsAndPlacements) {
  using T = TypeParam;
  for (const T beta : {T(0), T(0.75)}) {
    for (const Index tile : {16, 37}) {
      this->expect_everywhere(this->sum_of_runs(beta, tile, {256, k}), beta, tile, 2);
      this->expect_everywhere(this->sum_of_runs(beta, tile, {192, 384, k}), beta, tile, 3);
      this->expect_everywhere(this->sum_of_runs(beta, tile, {128, 256, 448, k}), beta, tile, 4);
    }
  }
}

TYPED_TEST(LayersBits, OneLayerIsAsWithoutLayersAndTwoAreAnotherSum) {
  using T = TypeParam;
  const Placement a = Placement::row_bands(m, k, this->comm.size());
  const Placement b = Placement::column_bands(k, n, this->comm.size());
  const Placement c = Placement::row_bands(m, n, this->comm.size());
  const auto without = this->product_on(this->comm, a, b, c, T(0.75), {.tile = 16});
  const auto one = this->product_on(this->comm, a, b, c, T(0.75), {.tile = 16, .layers = 1});
  const auto two = this->product_on(this->comm, a, b, c, T(0.75), {.tile = 16, .layers = 2});
  if (this->comm.rank() == 0) {
    EXPECT_TRUE(test::same_bits(one, without));
    EXPECT_FALSE(test::same_bits(two, without)) << "this test could not fail";
  }
}

// For any route of messages: over nodes some are forwarded, and each route ends in other memory.
TYPED_TEST(LayersBits, AreTheSameForAnyTransportAndNodes) {
  using T = TypeParam;
  const auto reference = this->sum_of_runs(T(0.75), 16, {256, k});
  for (const char* node_size : {"1", "2"}) {
    for (const TransportKind kind : {TransportKind::peer, TransportKind::direct, TransportKind::staged}) {
      if (!availability(this->comm, kind).available) continue;
      setenv("HEDDLE_NODE_SIZE", node_size, 1);
      if (kind != TransportKind::peer) setenv("HEDDLE_TRANSPORT", std::string(to_string(kind)).c_str(), 1);
      this->comm = test::world();
      this->expect_everywhere(reference, T(0.75), 16, 2);
      unsetenv("HEDDLE_NODE_SIZE");
      unsetenv("HEDDLE_TRANSPORT");
    }
  }
}

// Further products with the same plan, whose layers the last product has filled; and transposed factors.
TYPED_TEST(LayersBits, APlanInLayersIsUsedAgain) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  const Placement a = Placement::row_bands(k, m, ranks);
  const Placement b = Placement::block_cyclic(n, k, 5, 9, 1, ranks);
  const Placement c = Placement::column_bands(m, n, ranks);
  const auto A = test::random_matrix<T>(this->comm, a, 1);
  const auto B = test::random_matrix<T>(this->comm, b, 2);
  const GemmOptions options{.tile = 16, .layers = 2, .record_timeline = true};
  GemmPlan<T> plan(this->comm, Operation::transpose, a, Operation::conjugate_transpose, b, c, options);
  EXPECT_EQ(plan.layers(), 2);
  const auto product = [&](T alpha, T beta) {
    const auto C = test::random_matrix<T>(this->comm, c, 3);
    plan.execute(alpha, A, B, beta, C);
    return gather(C, 0);
  };
  const auto first = product(T(1.25), T(0.75));
  (void)product(T(-3), T(0));
  const auto again = product(T(1.25), T(0.75));
  const auto scaled = product(T(0), T(2));
  const auto C = gather(test::random_matrix<T>(this->comm, c, 3), 0);
  if (this->comm.rank() == 0) {
    EXPECT_TRUE(test::same_bits(first, again));
    EXPECT_EQ(scaled(0, 0), T(2) * C(0, 0));
    EXPECT_EQ(scaled(m - 1, n - 1), T(2) * C(m - 1, n - 1));
  }
  // Every tile of both layers was computed.
  (void)product(T(1), T(0));
  std::array<Index, 2> tiles{0, 0};
  for (const TimelineInterval& interval : plan.timeline()) {
    if (interval.kind == TimelineKind::product) ++tiles[static_cast<std::size_t>(interval.layer)];
  }
  for (Index& of_layer : tiles) {
    of_layer = this->comm.all_reduce(of_layer, Reduction::sum);
    EXPECT_EQ(of_layer, ((m + 15) / 16) * ((n + 15) / 16));
  }
}

}  // namespace
}  // namespace heddle::layers_bits_test
