// LU and Cholesky over grids of ranks: the bits and pivots of one rank, for any grid and any nodes.
#include "over_ranks.hpp"
#include <heddle/solve/memory.hpp>
#include <heddle/solve/solve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heddle::grid_test {
namespace {

using test::same_bits;

std::vector<int> divisors(int ranks) {
  std::vector<int> found;
  for (int rows = 1; rows <= ranks; ++rows) {
    if (ranks % rows == 0) found.push_back(rows);
  }
  return found;
}

template <class T> class Grids : public test::OverRanks<T> {
 protected:
  using test::OverRanks<T>::comm;

  static void TearDownTestSuite() { nodes().clear(); }
  static std::map<int, Communicator>& nodes() {
    static std::map<int, Communicator> made;
    return made;
  }
  // A communicator of all ranks, in nodes of `ranks` ranks, created once.
  static const Communicator& in_nodes_of(int ranks) {
    if (const auto found = nodes().find(ranks); found != nodes().end()) return found->second;
    const char* const before = std::getenv("HEDDLE_NODE_SIZE");
    const std::string kept = before != nullptr ? before : "";
    setenv("HEDDLE_NODE_SIZE", std::to_string(ranks).c_str(), 1);
    const Communicator& comm = nodes().emplace(ranks, Communicator(MPI_COMM_WORLD)).first->second;
    if (before != nullptr) {
      setenv("HEDDLE_NODE_SIZE", kept.c_str(), 1);
    } else {
      unsetenv("HEDDLE_NODE_SIZE");
    }
    return comm;
  }

  template <class Report, class Factor>
  HostMatrix<T> factored(const Communicator& over, const HostMatrix<T>& A, const Placement& placement, Report& report,
                         const Factor& factor) const {
    const DistributedMatrix<T> distributed(over, placement, "factored");
    scatter(A, 0, distributed);
    report = factor(over, distributed);
    HostMatrix<T> all = gather(distributed, 0);
    if (over.rank() != 0) all = HostMatrix<T>("all", A.extent(0), A.extent(1));
    over.broadcast(std::span<T>(all.data(), all.size()), 0);
    return all;
  }
  HostMatrix<T> by_lu(const Communicator& over, const HostMatrix<T>& A, const FactorOptions& options,
                      LuReport& report) const {
    const auto rows = static_cast<Index>(A.extent(0));
    const auto columns = static_cast<Index>(A.extent(1));
    return factored(over, A, Placement::row_bands(rows, columns, over.size()), report,
                    [&](const Communicator& ranks, const DistributedMatrix<T>& a) { return lu(ranks, a, options); });
  }
  void expect_lu_of_one_rank(const HostMatrix<T>& A, FactorOptions options) const {
    const MatrixView<T> alone = test::padded_on_device<T>(A);
    options.grid_rows = 1;
    const LuReport expected = lu(comm.space(), alone, options);
    const HostMatrix<T> factors = test::to_host<T>(alone);
    for (const int rows : divisors(comm.size())) {
      for (const int node : {comm.size(), 1, 2}) {
        SCOPED_TRACE(message_of(rows, " rows of ranks, nodes of ", node));
        options.grid_rows = rows;
        LuReport report;
        const HostMatrix<T> found = by_lu(in_nodes_of(node), A, options, report);
        EXPECT_EQ(report.pivots, expected.pivots);
        EXPECT_EQ(report.info, expected.info);
        EXPECT_EQ(report.growth, expected.growth);
        EXPECT_TRUE(same_bits<T>(found, factors));
      }
    }
  }
};
TYPED_TEST_SUITE(Grids, test::AllScalars);

struct Case {
  Index rows, columns, block, group;
};

TYPED_TEST(Grids, EmulatedLuHasTheBitsOfOneRank) {
  using T = TypeParam;
  for (const Case& shape : {Case{1, 1, 0, 0},
                            {7, 7, 8, 4},
                            {33, 33, 8, 1},
                            {70, 70, 8, 4},
                            {97, 97, 16, 8},
                            {150, 150, 4, 2},
                            {90, 41, 8, 4},
                            {200, 9, 4, 1},
                            {40, 93, 8, 2},
                            {64, 64, 4, 16}}) {
    SCOPED_TRACE(
        message_of(shape.rows, " x ", shape.columns, ", blocks of ", shape.block, ", groups of ", shape.group));
    this->expect_lu_of_one_rank(test::host_random<T>(shape.rows, shape.columns, 5),
                                {.arithmetic = Arithmetic::emulated, .block = shape.block, .group = shape.group});
  }
}

// Pivots in distant rows of other ranks, again and again; ties; rows of zeros.
TYPED_TEST(Grids, RowsThatTravelFarAndTies) {
  using T = TypeParam;
  const Index n = 96;
  const auto backwards = test::host_matrix<T>(
      n, n, [&](Index i, Index j) { return i + j == n - 1 ? T(8) : T((i * 7 + j * 3) % 5 == 0 ? 1 : 0); });
  const auto ties = test::host_matrix<T>(n, n, [&](Index i, Index j) { return T((i * j + i) % 3 == 0 ? 1 : -1); });
  const auto singular = test::host_matrix<T>(n, n, [&](Index i, Index j) {
    return i % 5 == 4 || j == 60 ? T(0) : T(static_cast<Real<T>>((i * 13 + j * 29) % 17) - Real<T>(8));
  });
  const T nan(std::numeric_limits<Real<T>>::quiet_NaN());
  const auto with_nan = test::host_matrix<T>(n, 40, [&](Index i, Index j) {
    return i == 70 && j == 3 ? nan : T(static_cast<Real<T>>((i * 13 + j * 29) % 17));
  });
  for (const auto& [block, group] : {std::pair<Index, Index>{8, 1}, {8, 4}, {4, 8}}) {
    const FactorOptions options{.arithmetic = Arithmetic::emulated, .block = block, .group = group};
    this->expect_lu_of_one_rank(backwards, options);
    this->expect_lu_of_one_rank(ties, options);
    this->expect_lu_of_one_rank(singular, options);
    LuReport report;
    for (const int rows : divisors(this->comm.size())) {
      FactorOptions of_grid = options;
      of_grid.grid_rows = rows;
      this->by_lu(this->comm, with_nan, of_grid, report);
      EXPECT_TRUE(std::isnan(report.growth));
    }
  }
}

TYPED_TEST(Grids, EmptyMatricesAndMoreRanksThanRows) {
  using T = TypeParam;
  for (const auto& [rows, columns] : {std::pair<Index, Index>{0, 0}, {0, 4}, {4, 0}, {1, 3}, {3, 1}, {2, 2}}) {
    SCOPED_TRACE(message_of(rows, " x ", columns));
    this->expect_lu_of_one_rank(test::host_random<T>(rows, columns, 3),
                                {.arithmetic = Arithmetic::emulated, .block = 1});
  }
}

// The shapes of native products follow from the rows of the grid, not from its columns.
TYPED_TEST(Grids, NativeLuIsTheSameForAnyColumnsOfAGrid) {
  using T = TypeParam;
  const Index n = 301;
  const HostMatrix<T> A = test::host_random<T>(n, n, 11);
  for (const int rows : divisors(this->comm.size())) {
    SCOPED_TRACE(message_of(rows, " rows of ranks"));
    const FactorOptions options{.block = 16, .group = 2, .grid_rows = rows};
    LuReport report;
    const HostMatrix<T> found = this->by_lu(this->comm, A, options, report);
    EXPECT_EQ(report.info, 0);
    // One grid column of `rows` ranks.
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, this->comm.rank() < rows ? 0 : 1, this->comm.rank(), &some);
    if (this->comm.rank() < rows) {
      LuReport of_column;
      const HostMatrix<T> expected = this->by_lu(Communicator(some), A, options, of_column);
      EXPECT_EQ(report.pivots, of_column.pivots);
      EXPECT_EQ(report.growth, of_column.growth);
      EXPECT_TRUE(same_bits<T>(found, expected));
    }
    MPI_Comm_free(&some);
  }
}

TYPED_TEST(Grids, CholeskyHasTheBitsOfOneRank) {
  using T = TypeParam;
  for (const Case& shape :
       {Case{1, 1, 0, 0}, {7, 7, 8, 4}, {97, 97, 16, 8}, {130, 130, 8, 2}, {64, 64, 4, 16}, {90, 90, 40, 1}}) {
    const Index n = shape.rows;
    SCOPED_TRACE(message_of("n = ", n, ", blocks of ", shape.block, ", groups of ", shape.group));
    for (const Index bad : {Index{-1}, n / 2}) {
      const HostMatrix<T> A = test::host_matrix<T>(n, n, [&](Index i, Index j) {
        const T one = test::RandomEntries<T>{5}(std::max(i, j), std::min(i, j));
        if (i == j) return T(i == bad ? Real<T>(-1) : real_of<Real<T>>(one) + static_cast<Real<T>>(2 * n));
        return i > j ? one : conjugate(one);
      });
      FactorOptions options{.arithmetic = Arithmetic::emulated, .block = shape.block, .group = shape.group};
      const MatrixView<T> alone = test::padded_on_device<T>(A);
      const CholeskyReport expected = cholesky(this->comm.space(), alone, options);
      EXPECT_EQ(expected.info, bad + 1);
      for (const int rows : divisors(this->comm.size())) {
        for (const int node : {this->comm.size(), 1}) {
          SCOPED_TRACE(message_of(rows, " rows of ranks, nodes of ", node));
          options.grid_rows = rows;
          CholeskyReport report;
          const HostMatrix<T> found = this->factored(
              this->in_nodes_of(node), A, Placement::on_rank(n, n, 0), report,
              [&](const Communicator& ranks, const DistributedMatrix<T>& a) { return cholesky(ranks, a, options); });
          EXPECT_EQ(report.info, expected.info);
          if (bad < 0) EXPECT_TRUE(same_bits<T>(found, test::to_host<T>(alone)));
        }
      }
    }
  }
}

TYPED_TEST(Grids, SystemsAreSolvedAlike) {
  using T = TypeParam;
  const Index n = 120;
  const HostMatrix<T> A = test::host_random<T>(n, n, 15);
  const HostMatrix<T> B = test::host_random<T>(n, 3, 16);
  HostMatrix<T> expected;
  for (const int rows : divisors(this->comm.size())) {
    const DistributedMatrix<T> a = this->spread(A);
    const DistributedMatrix<T> b = this->spread(B);
    const DistributedMatrix<T> x(this->comm, b.placement());
    const SolveReport report =
        solve(this->comm, a, b, x,
              {.factorization = {.arithmetic = Arithmetic::emulated, .block = 16, .group = 2, .grid_rows = rows}});
    EXPECT_EQ(report.factorization.info, 0);
    EXPECT_LE(report.componentwise_error, 4 * static_cast<double>(unit_roundoff<T>));
    const HostMatrix<T> found = this->everywhere(x);
    if (rows == 1) expected = found;
    EXPECT_TRUE(same_bits<T>(found, expected));
  }
}

// A plan is used again, with its matrices in place and elsewhere, and reports the memory it takes.
TYPED_TEST(Grids, PlansServeManyMatrices) {
  using T = TypeParam;
  const Index n = 80;
  for (const int rows : divisors(this->comm.size())) {
    SCOPED_TRACE(message_of(rows, " rows of ranks"));
    const FactorOptions options{.arithmetic = Arithmetic::emulated, .block = 8, .group = 2, .grid_rows = rows};
    LuPlan<T> plan(this->comm, n, n, options);
    EXPECT_EQ(plan.placement().row_axis().processes, rows);
    EXPECT_EQ(plan.placement().rank_end(), this->comm.size());
    for (const int seed : {1, 2, 3}) {
      const HostMatrix<T> A = test::host_random<T>(n, n, seed);
      const MatrixView<T> alone = test::padded_on_device<T>(A);
      lu(this->comm.space(), alone, {.arithmetic = Arithmetic::emulated, .block = 8, .group = 2});
      const bool placed = seed != 2;
      const DistributedMatrix<T> a = this->spread(A, placed ? plan.placement() : Placement::on_rank(n, n, 0));
      const LuReport report = plan.execute(a);
      EXPECT_TRUE(same_bits<T>(this->everywhere(a), test::to_host<T>(alone)));
      if (seed == 1) EXPECT_EQ(report.memory_bytes, lu_memory<T>(n, n, this->comm.size(), options, true));
    }
  }
}

TYPED_TEST(Grids, RefusesGridsThatDoNotFit) {
  using T = TypeParam;
  for (const int rows : {0, -1, this->comm.size() + 1}) {
    EXPECT_THROW(LuPlan<T>(this->comm, 4, 4, {.grid_rows = rows}), Error);
    EXPECT_THROW(CholeskyPlan<T>(this->comm, 4, {.grid_rows = rows}), Error);
    EXPECT_THROW(static_cast<void>(lu_memory<T>(4, 4, this->comm.size(), {.grid_rows = rows})), Error);
  }
  const MatrixView<T> one = test::padded_on_device<T>(test::host_random<T>(4, 4, 1));
  EXPECT_THROW(lu(this->comm.space(), one, {.grid_rows = 2}), Error);
}

}  // namespace
}  // namespace heddle::grid_test
