// Eigensystems over ranks with the bits of one rank, and the schedule that gives them.
#include "eigen/distributed/round_robin_sweep.hpp"
#include "eigen/problems.hpp"
#include "support/errors.hpp"
#include "support/on_host.hpp"
#include <heddle/eigen/distributed.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::eigen::reproducible_test {
namespace {

using Kokkos::complex;

// The result over all ranks is to have the bits of the result of one rank and one thread, and its quality.
template <Scalar T> void expect_bits_of_one_rank(const Host<T>& whole, JacobiOptions options, const Placement& place) {
  using R = Real<T>;
  const Communicator comm = test::world();
  const auto n = static_cast<Index>(whole.extent(0));
  options.reproducible = true;
  const DistributedMatrix<T> A(comm, place, "A");
  scatter(whole, 0, A);
  const DistributedMatrix<T> V(comm, Placement::row_bands(n, n, comm.size()), "V");
  const Kokkos::View<R*, MemorySpace> w("w", static_cast<std::size_t>(n));
  const JacobiReport report = jacobi<T>(comm, A, w, V, options);
  const auto values = to_host(w);
  std::vector<double> mine;
  for (Index i = 0; i < n; ++i) {
    mine.push_back(static_cast<double>(values(i)));
  }
  std::vector<double> of_rank_0 = mine;
  comm.broadcast(std::span<double>(of_rank_0), 0);
  EXPECT_EQ(mine, of_rank_0);
  const HostMatrix<T> vectors = gather(V, 0);
  if (comm.rank() != 0) {
    return;
  }
  options.method = JacobiMethod::blocked;
  options.accuracy = JacobiAccuracy::norm;
  const auto parts = Kokkos::Experimental::partition_space(ExecutionSpace{}, 1, 1);
  const Device<T> V_alone("alone", whole.extent(0), whole.extent(0));
  const Kokkos::View<R*, MemorySpace> w_alone("alone", whole.extent(0));
  const JacobiReport alone = jacobi(parts[0], to_device<T>(whole), w_alone, V_alone, options);
  const auto values_alone = to_host(w_alone);
  for (Index i = 0; i < n; ++i) {
    EXPECT_EQ(values(i), values_alone(i)) << i;
  }
  EXPECT_TRUE(test::same_bits<T>(vectors, to_host(V_alone)));
  EXPECT_EQ(report.converged, alone.converged);
  EXPECT_EQ(report.sweeps, alone.sweeps);
  EXPECT_EQ(report.rotations, alone.rotations);
  if (report.converged) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    // Scaled, as squares would over- and underflow.
    const double largest = std::max(std::abs(mine.front()), std::abs(mine.back()));
    const int exponent = largest > 0 ? std::ilogb(largest) : 0;
    const Host<T> near_one = host_matrix<T>(n);
    const auto scaled = [exponent](R x) { return std::ldexp(x, -exponent); };
    for (std::size_t at = 0; at < whole.size(); ++at) {
      const T element = whole.data()[at];
      if constexpr (is_complex<T>) {
        near_one.data()[at] = T(scaled(element.real()), scaled(element.imag()));
      } else {
        near_one.data()[at] = scaled(element);
      }
    }
    std::transform(mine.begin(), mine.end(), mine.begin(), [&](double x) { return std::ldexp(x, -exponent); });
    const Quality found = quality<T>(near_one, vectors, mine);
    EXPECT_LE(found.residual, 10);
    EXPECT_LE(found.orthogonality, 10);
  }
}
template <Scalar T> void expect_bits_of_one_rank(const Host<T>& whole, const JacobiOptions& options = {}) {
  const auto n = static_cast<Index>(whole.extent(0));
  expect_bits_of_one_rank<T>(whole, options, Placement::column_bands(n, n, test::world().size()));
}

template <class T> class ReproducibleJacobi : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(ReproducibleJacobi, Types);

// Fewer columns than ranks, ranks without columns, blocks that are not full, and one more or less than that.
TYPED_TEST(ReproducibleJacobi, OfAnySizeAndPlacementHasTheBitsOfOneRank) {
  const int ranks = test::world().size();
  for (const Index n : {1, 2, 3, 9, 16, 17, 40, 65, 130}) {
    SCOPED_TRACE("n = " + std::to_string(n));
    expect_bits_of_one_rank<TypeParam>(random_hermitian<TypeParam>(n, 3), {},
                                       n % 2 == 0   ? Placement::row_bands(n, n, ranks)
                                       : n % 3 == 0 ? Placement::on_rank(n, n, ranks - 1)
                                                    : Placement::block_cyclic(n, n, 7, 5, 1, ranks));
  }
}

TYPED_TEST(ReproducibleJacobi, OfAnyBlockHasTheBitsOfOneRank) {
  const std::vector<int> blocks = test::on_host ? std::vector<int>{1, 3, 16, 500} : std::vector<int>{8, 16};
  for (const int block : blocks) {
    SCOPED_TRACE("block = " + std::to_string(block));
    expect_bits_of_one_rank<TypeParam>(random_hermitian<TypeParam>(27, 4), {.block = block});
  }
}

TYPED_TEST(ReproducibleJacobi, OfClusteredAndGradedSpectraHasTheBitsOfOneRank) {
  const double condition = std::is_same_v<Real<TypeParam>, float> ? 1e5 : 1e12;
  for (int mode = 1; mode <= 6; ++mode) {
    SCOPED_TRACE("mode " + std::to_string(mode));
    expect_bits_of_one_rank<TypeParam>(with_spectrum<TypeParam>(latms_spectrum(mode, 41, condition), mode));
  }
  expect_bits_of_one_rank<TypeParam>(graded<TypeParam>(58, condition, 7));
}

TYPED_TEST(ReproducibleJacobi, OfAnyRangeHasTheBitsOfOneRank) {
  using R = Real<TypeParam>;
  for (const R largest : {std::numeric_limits<R>::max() / 400, std::numeric_limits<R>::min() * 4}) {
    const Host<TypeParam> A = random_hermitian<TypeParam>(50, 8);
    for (std::size_t at = 0; at < A.size(); ++at) {
      A.data()[at] *= largest;
    }
    expect_bits_of_one_rank<TypeParam>(A);
  }
}

TYPED_TEST(ReproducibleJacobi, OfADiagonalIsTheDiagonal) {
  const Host<TypeParam> A = host_matrix<TypeParam>(45);
  for (Index i = 0; i < 45; ++i) {
    A(i, i) = TypeParam(static_cast<Real<TypeParam>>((i * 17) % 45 - 20));
  }
  expect_bits_of_one_rank<TypeParam>(A);
}

TYPED_TEST(ReproducibleJacobi, ThatHasNotConvergedHasTheBitsOfOneRank) {
  expect_bits_of_one_rank<TypeParam>(random_hermitian<TypeParam>(110, 5), {.sweeps = 2});
}

TYPED_TEST(ReproducibleJacobi, RefusesNaNOnEveryRank) {
  using R = Real<TypeParam>;
  const Communicator comm = test::world();
  const Index n = 40;
  const Placement bands = Placement::column_bands(n, n, comm.size());
  const DistributedMatrix<TypeParam> A(comm, bands, "A");
  const DistributedMatrix<TypeParam> V(comm, bands, "V");
  const Kokkos::View<R*, MemorySpace> w("w", static_cast<std::size_t>(n));
  for (const R wrong : {std::numeric_limits<R>::quiet_NaN(), -std::numeric_limits<R>::infinity()}) {
    test::fill_ones_but<TypeParam>(A, n - 1, n - 1, TypeParam(wrong));
    test::expect_refusal(ErrorKind::argument, "NaN or infinite",
                         [&] { static_cast<void>(jacobi<TypeParam>(comm, A, w, V, {.reproducible = true})); });
  }
}

// All ranks of a sweep at once: the block that is in each slot, and messages between them.
class SweepOfAll {
 public:
  explicit SweepOfAll(const impl::PairShares& shares) : shares_(shares) {
    for (int rank = 0; rank < shares.ranks; ++rank) {
      plans_.emplace_back(shares, rank);
      blocks_.emplace_back(static_cast<std::size_t>(plans_.back().slots()), -1);
      for (int at = 0; at < 2 * shares.count(rank); ++at) {
        block(rank, plans_.back().slot(at)) = plans_.back().position(at);
      }
    }
  }

  // Blocks are at home, and every rank has had the pairs of the order of one rank.
  void run() {
    std::vector<std::vector<impl::RoundRobinSweep::Step>> steps;
    std::vector<std::vector<int>> pairs(plans_.size());
    for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
      steps.push_back(plans_[rank].plan(pairs[rank]));
    }
    for (int step = 0; step < 2 * shares_.pairs - 1; ++step) {
      std::vector<std::pair<int, int>> met;
      std::map<std::tuple<int, int, int>, std::vector<int>> messages;
      for (int rank = 0; rank < shares_.ranks; ++rank) {
        const int count = shares_.count(rank);
        for (int k = 0; k < count; ++k) {
          const auto at = static_cast<std::size_t>(2 * (step * count + k));
          const std::vector<int>& mine = pairs[static_cast<std::size_t>(rank)];
          met.emplace_back(block(rank, mine[at]), block(rank, mine[at + 1]));
          // Only those that other ranks wait for may have left when the rest is rotated.
          for (const impl::BlockMove& move : at_step(steps, rank, step).sent) {
            const bool here = move.slot == mine[at] || move.slot == mine[at + 1];
            EXPECT_TRUE(!here || k < at_step(steps, rank, step).leaving);
          }
        }
        if (count > 0) {
          for (const impl::BlockMove& move : at_step(steps, rank, step).sent) {
            messages[{rank, move.rank, move.row}].push_back(block(rank, move.slot));
            EXPECT_NE(move.rank, rank);
          }
        }
      }
      std::vector<std::pair<int, int>> expected;
      for (int k = 0; k < shares_.pairs; ++k) {
        expected.emplace_back(impl::occupant(k, shares_.pairs, step),
                              impl::occupant(shares_.pairs + k, shares_.pairs, step));
      }
      std::sort(met.begin(), met.end());
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(met, expected) << "step " << step;
      for (int rank = 0; rank < shares_.ranks; ++rank) {
        if (shares_.count(rank) > 0) {
          for (const impl::BlockMove& move : at_step(steps, rank, step).received) {
            // No slot that is sent in this step or the one before.
            for (int before = std::max(0, step - 1); before <= step; ++before) {
              for (const impl::BlockMove& sent : at_step(steps, rank, before).sent) {
                EXPECT_NE(sent.slot, move.slot);
              }
            }
            std::vector<int>& arrived = messages[{move.rank, rank, move.row}];
            ASSERT_EQ(arrived.size(), 1U);
            block(rank, move.slot) = arrived.front();
            arrived.clear();
          }
        }
      }
      for (const auto& [route, left] : messages) {
        EXPECT_TRUE(left.empty());
      }
    }
    for (int rank = 0; rank < shares_.ranks; ++rank) {
      const impl::RoundRobinSweep& plan = plans_[static_cast<std::size_t>(rank)];
      for (int at = 0; at < 2 * shares_.count(rank); ++at) {
        EXPECT_EQ(block(rank, plan.slot(at)), plan.position(at));
      }
    }
  }

 private:
  static const impl::RoundRobinSweep::Step& at_step(const std::vector<std::vector<impl::RoundRobinSweep::Step>>& steps,
                                                    int rank, int step) {
    return steps[static_cast<std::size_t>(rank)][static_cast<std::size_t>(step)];
  }
  int& block(int rank, int slot) { return blocks_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(slot)]; }

  impl::PairShares shares_;
  std::vector<impl::RoundRobinSweep> plans_;
  std::vector<std::vector<int>> blocks_;
};

TEST(RoundRobinSweep, HasThePairsOfOneRankOverAnyNumberOfRanks) {
  if (test::world().rank() != 0) {
    return;
  }
  for (int pairs = 1; pairs <= 13; ++pairs) {
    for (int ranks = 1; ranks <= 15; ++ranks) {
      SCOPED_TRACE(std::to_string(pairs) + " pairs over " + std::to_string(ranks) + " ranks");
      SweepOfAll sweep({pairs, ranks});
      sweep.run();
      sweep.run();
      sweep.run();
    }
  }
}

}  // namespace
}  // namespace heddle::eigen::reproducible_test
