// Products over all ranks: errors, placements, refusals and reports.
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/gemm/gemm.hpp>

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <functional>
#include <limits>

namespace heddle::gemm_test {
namespace {

template <class T> class Gemm : public ::testing::Test {
 protected:
  using Wide = std::complex<double>;
  using Entries = test::RandomEntries<T>;

  static Wide wide(const T& value) {
    if constexpr (is_complex<T>) {
      return {value.real(), value.imag()};
    } else {
      return value;
    }
  }
  static Wide element(Operation op, int seed, Index i, Index j) {
    if (op == Operation::none) {
      return wide(Entries{seed}(i, j));
    }
    const Wide value = wide(Entries{seed}(j, i));
    return op == Operation::transpose ? value : std::conj(value);
  }
  static Placement stored(Operation op, Index rows, Index columns, const std::function<Placement(Index, Index)>& make) {
    return op == Operation::none ? make(rows, columns) : make(columns, rows);
  }

  struct Product {
    std::array<Index, 3> shape;
    Operation op_a, op_b;
    T alpha, beta;
  };
  // C = alpha op(A) op(B) + beta C for random matrices, compared with sums in double.
  void expect_product(const Product& product, const Placement& a, const Placement& b, const Placement& c,
                      const GemmOptions& options) {
    const auto [shape, op_a, op_b, alpha, beta] = product;
    const auto [m, n, k] = shape;
    const auto A = test::random_matrix<T>(comm, a, 1);
    const auto B = test::random_matrix<T>(comm, b, 2);
    const auto C = test::random_matrix<T>(comm, c, 3);
    const GemmReport report = gemm(comm, op_a, op_b, alpha, A, B, beta, C, options);
    EXPECT_EQ(report.tile, options.tile);
    const auto whole = gather(C, 0);
    Index wrong = 0;
    for (Index j = 0; j < static_cast<Index>(whole.extent(1)); ++j) {
      for (Index i = 0; i < static_cast<Index>(whole.extent(0)); ++i) {
        Wide sum = wide(beta) * wide(Entries{3}(i, j));
        double size = std::abs(sum);
        for (Index l = 0; l < k; ++l) {
          const Wide term = wide(alpha) * element(op_a, 1, i, l) * element(op_b, 2, l, j);
          sum += term;
          size += std::abs(term);
        }
        // Error of the product and of the reference sums (Higham, ASNA, 3.5 and 3.6).
        const double bound = 8.0 * static_cast<double>(k + 3) * unit_roundoff<T> * size;
        wrong += std::abs(wide(whole(i, j)) - sum) <= bound ? 0 : 1;
      }
    }
    EXPECT_EQ(wrong, 0) << m << " x " << n << " x " << k << ", tile " << options.tile << ", A " << a.describe()
                        << ", B " << b.describe() << ", C " << c.describe();
  }

  Communicator comm = test::world();
};
TYPED_TEST_SUITE(Gemm, test::AllScalars);

constexpr Operation operations[] = {Operation::none, Operation::transpose, Operation::conjugate_transpose};

TYPED_TEST(Gemm, AllOperationsAndCornerCasesOfAlphaAndBeta) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  const std::array<Index, 3> shape = {31, 22, 27};
  const auto [m, n, k] = shape;
  for (const Operation op_a : operations) {
    for (const Operation op_b : operations) {
      const Placement a = this->stored(op_a, m, k, [&](Index r, Index c) { return Placement::row_bands(r, c, ranks); });
      const Placement b =
          this->stored(op_b, k, n, [&](Index r, Index c) { return Placement::column_bands(r, c, ranks); });
      for (const auto& [alpha, beta] :
           {std::pair<T, T>{T(1), T(0)}, {T(1), T(1)}, {T(-2), T(0.5)}, {T(0), T(2)}, {T(0), T(0)}}) {
        this->expect_product({shape, op_a, op_b, alpha, beta}, a, b, Placement::on_rank(m, n, ranks / 2), {.tile = 8});
      }
    }
  }
}

TYPED_TEST(Gemm, AnyPlacementsAndShapes) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  for (const std::array<Index, 3>& shape : {std::array<Index, 3>{24, 24, 24},
                                            {17, 29, 13},
                                            {3, 50, 7},
                                            {50, 2, 1},
                                            {1, 1, 1},
                                            {0, 5, 5},
                                            {5, 0, 5},
                                            {6, 5, 0}}) {
    const auto [m, n, k] = shape;
    const auto of_a = test::placements_of(m, k, ranks);
    const auto of_b = test::placements_of(k, n, ranks);
    const auto of_c = test::placements_of(m, n, ranks);
    for (std::size_t p = 0; p < of_a.size(); ++p) {
      const std::size_t q = (p * 3 + 1) % of_b.size();
      const std::size_t r = (p * 5 + 2) % of_c.size();
      for (const Index tile : {5, 64}) {
        this->expect_product({shape, Operation::none, Operation::none, T(1.5), T(-1)}, of_a[p], of_b[q], of_c[r],
                             {.tile = tile, .bands_per_pass = static_cast<int>(p % 3)});
      }
    }
  }
}

TYPED_TEST(Gemm, AnyGridOfRanks) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  for (int columns = 1; columns <= ranks; ++columns) {
    if (ranks % columns != 0) continue;
    const ProcessGrid grid{ranks / columns, columns};
    for (const auto& [m, n, k] : {std::array<Index, 3>{29, 31, 13}, {3, 50, 7}, {50, 2, 9}, {1, 1, 1}, {0, 5, 5}}) {
      const auto of_a = test::placements_of(m, k, ranks);
      const auto of_b = test::placements_of(k, n, ranks);
      const auto of_c = test::placements_of(m, n, ranks);
      for (std::size_t p = 0; p < of_a.size(); ++p) {
        this->expect_product({{m, n, k}, Operation::none, Operation::none, T(1.5), T(-1)}, of_a[p],
                             of_b[(p * 3 + 1) % of_b.size()], of_c[(p * 5 + 2) % of_c.size()],
                             {.tile = 5, .bands_per_pass = static_cast<int>(p % 3), .grid = grid});
      }
    }
  }
}

TYPED_TEST(Gemm, ThePapersPlacement) {
  using T = TypeParam;
  // A on rank 2, B on 1, C on 0, if there are as many ranks.
  const int ranks = this->comm.size();
  this->expect_product({{40, 40, 40}, Operation::none, Operation::none, T(1), T(1)},
                       Placement::on_rank(40, 40, 2 % ranks), Placement::on_rank(40, 40, 1 % ranks),
                       Placement::on_rank(40, 40, 0), {.tile = 6, .bands_per_pass = 1});
}

TYPED_TEST(Gemm, BetaZeroDoesNotReadCAndAlphaZeroReadsNeitherAnorB) {
  using T = TypeParam;
  const T poison(std::numeric_limits<Real<T>>::quiet_NaN());
  for (const Placement& placement : test::placements_of(20, 20, this->comm.size())) {
    const auto A = test::random_matrix<T>(this->comm, placement, 1);
    const DistributedMatrix<T> bad(this->comm, placement);
    const DistributedMatrix<T> C(this->comm, placement);
    fill(bad, poison);
    fill(C, poison);
    gemm<T>(this->comm, Operation::none, Operation::none, T(1), A, A, T(0), C, {.tile = 7});
    EXPECT_FALSE(std::isnan(norm(C, Norm::maximum))) << placement.describe();
    gemm<T>(this->comm, Operation::none, Operation::none, T(0), bad, bad, T(1), C, {.tile = 7});
    EXPECT_FALSE(std::isnan(norm(C, Norm::maximum))) << placement.describe();
    gemm<T>(this->comm, Operation::none, Operation::none, T(1), A, bad, T(0), C, {.tile = 7});
    EXPECT_TRUE(std::isnan(norm(C, Norm::maximum))) << placement.describe();
  }
}

TYPED_TEST(Gemm, APlanIsUsedAgainWithOtherMatrices) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  const Placement bands = Placement::row_bands(30, 30, ranks);
  GemmPlan<T> plan(this->comm, Operation::none, bands, Operation::none, bands, bands, {.tile = 8});
  DistributedMatrix<T> identity(this->comm, bands);
  fill(identity, T(0));
  add_identity(T(1), identity);
  const auto A = test::random_matrix<T>(this->comm, bands, 1);
  const DistributedMatrix<T> C(this->comm, bands);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto B = test::random_matrix<T>(this->comm, bands, 10 + repeat);
    plan.execute(T(1), identity, B, T(0), C);
    EXPECT_TRUE(test::same_bits(gather(C, 0), gather(B, 0)));
    plan.execute(T(1), B, identity, T(0), C);
    EXPECT_TRUE(test::same_bits(gather(C, 0), gather(B, 0)));
  }
  const DistributedMatrix<T> elsewhere(this->comm, Placement::on_rank(30, 30, 0));
  if (ranks > 1) {
    test::expect_refusal(ErrorKind::argument, "gemm: B is 30 x 30 on rank 0; the plan is for",
                         [&] { plan.execute(T(1), A, elsewhere, T(0), C); });
  }
}

TYPED_TEST(Gemm, RefusesShapesAndOptionsThatDoNotFit) {
  using T = TypeParam;
  const auto bands = [&](Index rows, Index columns) { return Placement::row_bands(rows, columns, this->comm.size()); };
  const DistributedMatrix<T> A(this->comm, bands(4, 5));
  const DistributedMatrix<T> B(this->comm, bands(5, 6));
  const DistributedMatrix<T> C(this->comm, bands(4, 6));
  fill(A, T(1));
  fill(B, T(1));
  const auto run = [&](Operation op_a, Operation op_b, const GemmOptions& options) {
    gemm<T>(this->comm, op_a, op_b, T(1), A, B, T(0), C, options);
  };
  test::expect_refusal(ErrorKind::argument, "gemm: op(A) is 5 x 4",
                       [&] { run(Operation::transpose, Operation::none, {.tile = 4}); });
  test::expect_refusal(ErrorKind::argument, "gemm: op(A) is 4 x 5, op(B) is 6 x 5",
                       [&] { run(Operation::none, Operation::transpose, {.tile = 4}); });
  test::expect_refusal(ErrorKind::argument, "gemm: tile -1; expected at least 1",
                       [&] { run(Operation::none, Operation::none, {.tile = -1}); });
  test::expect_refusal(ErrorKind::argument, "gemm: bands_per_pass -1",
                       [&] { run(Operation::none, Operation::none, {.tile = 4, .bands_per_pass = -1}); });
  const int wrong = this->comm.size() + 1;
  test::expect_refusal(
      ErrorKind::argument,
      "gemm: a grid of " + std::to_string(wrong) + " x 1 ranks; there are " + std::to_string(this->comm.size()), [&] {
        run(Operation::none, Operation::none, {.tile = 4, .grid = {wrong, 1}});
      });
  test::expect_refusal(ErrorKind::argument, "gemm: a grid of 0 x 1 ranks", [&] {
    run(Operation::none, Operation::none, {.tile = 4, .grid = {0, 1}});
  });
  test::expect_refusal(ErrorKind::argument, "gemm: a grid of -1 x -1 ranks", [&] {
    run(Operation::none, Operation::none, {.tile = 4, .grid = {-1, -1}});
  });
  EXPECT_NO_THROW(run(Operation::none, Operation::none, {.tile = 4}));
}

// Rank 0 of a communicator of one rank exists on every rank: placements alone do not distinguish such matrices.
TYPED_TEST(Gemm, RefusesMatricesOfOtherRanks) {
  using T = TypeParam;
  const auto whole = [](const Communicator& ranks) {
    const DistributedMatrix<T> matrix(ranks, Placement::on_rank(4, 4, 0));
    fill(matrix, T(1));
    return matrix;
  };
  const DistributedMatrix<T> all = whole(this->comm);
  const Communicator alone(MPI_COMM_SELF);
  const DistributedMatrix<T> own = whole(alone);
  EXPECT_NO_THROW(gemm<T>(this->comm, Operation::none, Operation::none, T(1), all, whole(test::world()), T(0),
                          whole(this->comm), {.tile = 4}));
  const auto refused = [](const Communicator& ranks, const char* text, const auto& A, const auto& B, const auto& C) {
    test::expect_refusal(ErrorKind::argument, text,
                         [&] { gemm<T>(ranks, Operation::none, Operation::none, T(1), A, B, T(0), C, {.tile = 4}); });
    GemmPlan<T> plan(ranks, Operation::none, A.placement(), Operation::none, B.placement(), C.placement(), {.tile = 4});
    test::expect_refusal(ErrorKind::argument, text, [&] { plan.enqueue(T(1), A, B, T(0), C); });
  };
  if (this->comm.size() == 1) return;
  refused(this->comm, "gemm: A is a matrix of another communicator", own, all, whole(this->comm));
  refused(this->comm, "gemm: B is a matrix of another communicator", all, own, whole(this->comm));
  refused(this->comm, "gemm: C is a matrix of another communicator", all, all, own);
  refused(alone, "gemm: A is a matrix of another communicator", all, own, whole(alone));
}

TEST(GemmReport, CountsWhatWasMovedAndDone) {
  const Communicator comm = test::world();
  const Index n = 32;
  const Placement bands = Placement::row_bands(n, n, comm.size());
  const auto A = test::random_matrix<double>(comm, bands, 1);
  const auto B = test::random_matrix<double>(comm, Placement::column_bands(n, n, comm.size()), 2);
  const DistributedMatrix<double> C(comm, bands);
  MachineRates rates;
  rates.gemm = {{8, 1e9}, {32, 2e9}};
  rates.memory_bandwidth = 1e10;
  rates.link_bandwidth = 1e9;
  const GemmReport report = gemm<double>(comm, Operation::none, Operation::none, 1.0, A, B, 0.0, C,
                                         {.tile = 8, .grid = {comm.size(), 1}, .rates = rates});
  EXPECT_EQ(report.grid, (ProcessGrid{comm.size(), 1}));
  if (n / 8 % comm.size() == 0) {
    // Every rank receives the parts of B that others own.
    EXPECT_EQ(report.bytes_received, 8.0 * n * n * (comm.size() - 1));
    // Bands stay in memory, so that parts of other nodes come to each node once.
    double away = 0.0;
    for (int node = 0; node < comm.nodes(); ++node) {
      for (int owner = 0; owner < comm.size(); ++owner) away += node == comm.node_of(owner) ? 0.0 : 1.0;
    }
    EXPECT_EQ(report.bytes_between_nodes, 8.0 * n * n * away / comm.size());
  }
  ASSERT_TRUE(report.predicted_seconds.has_value());
  EXPECT_GT(*report.predicted_seconds, 2.0 * n * n * n / comm.size() / 2e9);
  EXPECT_GT(report.seconds, 0.0);
  EXPECT_NEAR(report.gflops * report.seconds * 1e9, 2.0 * n * n * n, 1e-3);
  EXPECT_GE(report.wait_seconds, 0.0);
  EXPECT_LE(report.wait_seconds, report.seconds);
}

}  // namespace
}  // namespace heddle::gemm_test
