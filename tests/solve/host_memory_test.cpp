// Matrices in host memory that exceed the devices' memory limit: factored by slabs of columns, with the bits of
// factorizations in device memory, and systems with factors that stay there.
#include "over_ranks.hpp"
#include "solve/grid/factorization.hpp"
#include "support/errors.hpp"
#include <heddle/solve/memory.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <vector>

namespace heddle::host_memory_test {
namespace {

template <class T> class HostMemory : public test::OverRanks<T> {
 protected:
  // Limits with which a matrix takes the smallest slabs, one slab, and several numbers of slabs between.
  [[nodiscard]] std::vector<std::size_t> limits(Index rows, Index columns, const FactorOptions& options,
                                                impl::FactorizationKind kind) const {
    const FactorOptions taken = impl::with_arithmetic(options);
    const impl::LuSchedule schedule = impl::schedule_for(rows, columns, taken);
    const CyclicAxis axis = impl::columns_of(schedule, this->comm.size());
    const Index unit = impl::ColumnSlabs::unit(schedule, axis, taken.arithmetic);
    std::set<std::size_t> found;
    for (Index width = unit; width < columns + unit; width += unit) {
      const impl::ColumnSlabs slabs{schedule, axis, width};
      found.insert(static_cast<std::size_t>(impl::slab_bytes<T>(slabs, kind, taken.arithmetic)) + 1);
    }
    // The least, the most and one between, and that of two slabs.
    std::vector<std::size_t> all(found.begin(), found.end());
    if (all.size() > 4) all = {all[0], all[all.size() / 3], all[all.size() - 2], all[all.size() - 1]};
    return all;
  }
  [[nodiscard]] Index slabs(Index rows, Index columns, const FactorOptions& options,
                            impl::FactorizationKind kind) const {
    const FactorOptions taken = impl::with_arithmetic(options);
    const impl::LuSchedule schedule = impl::schedule_for(rows, columns, taken);
    return impl::fewest_slabs<T>(schedule, impl::columns_of(schedule, this->comm.size()), kind, taken.arithmetic,
                                 static_cast<double>(options.memory_limit))
        .count();
  }
  static std::vector<FactorOptions> ways() {
    return {{.arithmetic = Arithmetic::native, .block = 16},
            {.arithmetic = Arithmetic::native, .block = 7, .group = 2},
            {.arithmetic = Arithmetic::emulated, .block = 16, .group = 2},
            {.arithmetic = Arithmetic::emulated, .block = 9, .group = 4}};
  }
  // Compare LU of a matrix in device memory with that in host memory, in the plan's placement with each limit, and in
  // bands.
  void expect_lu_alike(const HostMatrix<T>& A, const FactorOptions& options) {
    const auto rows = static_cast<Index>(A.extent(0));
    const auto columns = static_cast<Index>(A.extent(1));
    const Placement placement = LuPlan<T>(this->comm, rows, columns, options).placement();
    const DistributedMatrix<T> on_devices = this->spread(A, placement);
    const LuReport expected = lu(this->comm, on_devices, options);
    const HostMatrix<T> factors = this->everywhere(on_devices);
    const auto lie = limits(rows, columns, options, impl::FactorizationKind::lu);
    for (const std::size_t limit : lie) {
      for (const Placement& where : {placement, Placement::row_bands(rows, columns, this->comm.size())}) {
        FactorOptions limited = options;
        limited.memory_limit = limit;
        SCOPED_TRACE(message_of(rows, " x ", columns, ", ", to_string(options.arithmetic), ", block ", options.block,
                                ", group ", options.group, ", limit ", limit, ", slabs ",
                                slabs(rows, columns, limited, impl::FactorizationKind::lu)));
        const double messages = lu_memory<T>(rows, columns, this->comm.size(), options, false, Residence::host);
        if (!(where == placement) && static_cast<double>(limit) < messages) continue;
        const DistributedMatrix<T> in_host_memory = this->spread(A, where.in(Residence::host));
        const LuReport found = lu(this->comm, in_host_memory, limited);
        EXPECT_EQ(found.pivots, expected.pivots);
        EXPECT_EQ(found.info, expected.info);
        EXPECT_TRUE(found.growth == expected.growth || (std::isnan(found.growth) && std::isnan(expected.growth)));
        EXPECT_LE(found.memory_bytes, static_cast<double>(limit));
        EXPECT_TRUE(test::same_bits<T>(this->everywhere(in_host_memory), factors));
      }
    }
  }
  void expect_cholesky_alike(const HostMatrix<T>& A, const FactorOptions& options) {
    const auto n = static_cast<Index>(A.extent(0));
    const Placement placement = CholeskyPlan<T>(this->comm, n, options).placement();
    const DistributedMatrix<T> on_devices = this->spread(A, placement);
    const CholeskyReport expected = cholesky(this->comm, on_devices, options);
    const HostMatrix<T> factor = this->everywhere(on_devices);
    for (const std::size_t limit : limits(n, n, options, impl::FactorizationKind::cholesky)) {
      FactorOptions limited = options;
      limited.memory_limit = limit;
      SCOPED_TRACE(message_of(n, ", ", to_string(options.arithmetic), ", block ", options.block, ", group ",
                              options.group, ", limit ", limit, ", slabs ",
                              slabs(n, n, limited, impl::FactorizationKind::cholesky)));
      const DistributedMatrix<T> in_host_memory = this->spread(A, placement.in(Residence::host));
      const CholeskyReport found = cholesky(this->comm, in_host_memory, limited);
      EXPECT_EQ(found.info, expected.info);
      EXPECT_LE(found.memory_bytes, static_cast<double>(limit));
      // Columns from the first one without a pivot on are undefined.
      const auto columns = static_cast<std::size_t>(expected.info == 0 ? n : expected.info - 1);
      const auto first = [&](const HostMatrix<T>& whole) {
        return HostMatrix<T>(Kokkos::subview(whole, Kokkos::ALL, std::pair<std::size_t, std::size_t>(0, columns)));
      };
      EXPECT_TRUE(test::same_bits<T>(first(this->everywhere(in_host_memory)), first(factor)));
    }
  }
  static HostMatrix<T> positive_definite(Index n) {
    HostMatrix<T> A = test::host_random<T>(n, n, 11);
    for (Index j = 0; j < n; ++j) {
      // The upper triangle must not be read.
      for (Index i = 0; i < j; ++i) A(i, j) = T(std::numeric_limits<Real<T>>::quiet_NaN());
      A(j, j) = T(static_cast<Real<T>>(n));
    }
    return A;
  }
};
TYPED_TEST_SUITE(HostMemory, test::AllScalars);

TYPED_TEST(HostMemory, LuHasTheBitsThatItHasOnDevices) {
  using T = TypeParam;
  Index most = 0;
  for (const FactorOptions& options : this->ways()) {
    for (const auto& [rows, columns] : {std::pair<Index, Index>{260, 260}, {301, 190}, {90, 331}, {70, 1}, {1, 70}}) {
      this->expect_lu_alike(test::host_random<T>(rows, columns, 3), options);
      FactorOptions least = options;
      least.memory_limit = 1;
      most = std::max(most, this->slabs(rows, columns, least, impl::FactorizationKind::lu));
    }
  }
  EXPECT_GE(most, 3);
}

// With these blocks products are the BLAS's, whose bits may depend on shapes.
TYPED_TEST(HostMemory, LuHasTheBitsOfTheBlas) {
  using T = TypeParam;
  for (const Index group : {1, 2}) {
    this->expect_lu_alike(test::host_random<T>(650, 650, 3),
                          {.arithmetic = Arithmetic::native, .block = 128, .group = group});
  }
  // Blocks of several panels, dealt out to ranks.
  this->expect_lu_alike(test::host_random<T>(200, 2200, 3), {.arithmetic = Arithmetic::native, .block = 130});
}

TYPED_TEST(HostMemory, LuOfSingularMatricesAndOfNaNs) {
  using T = TypeParam;
  const Index n = 150;
  const FactorOptions native{.arithmetic = Arithmetic::native, .block = 8};
  const FactorOptions emulated{.arithmetic = Arithmetic::emulated, .block = 8, .group = 2};
  for (const FactorOptions& options : {native, emulated}) {
    this->expect_lu_alike(HostMatrix<T>("zero", n, n), options);
    // Columns from 100 on depend on those before.
    this->expect_lu_alike(
        test::host_matrix<T>(n, n, [](Index i, Index j) { return T(j < 100      ? (i == j ? 2 : 0)
                                                                   : i % 3 == 0 ? 1
                                                                                : 0); }),
        options);
    // All elements have one size: each pivot is the first of many.
    this->expect_lu_alike(test::host_matrix<T>(n, n, [](Index i, Index j) { return T((i * j) % 3 == 0 ? 1 : -1); }),
                          options);
  }
  const T nan(std::numeric_limits<Real<T>>::quiet_NaN());
  HostMatrix<T> with_nan = test::host_random<T>(n, n, 5);
  with_nan(20, 140) = nan;
  FactorOptions limited = native;
  limited.memory_limit =
      static_cast<std::size_t>(lu_memory<T>(n, n, this->comm.size(), native, true, Residence::host)) + 1;
  const Placement placement = LuPlan<T>(this->comm, n, n, native).placement();
  EXPECT_TRUE(std::isnan(lu(this->comm, this->spread(with_nan, placement.in(Residence::host)), limited).growth));
}

TYPED_TEST(HostMemory, CholeskyHasTheBitsThatItHasOnDevices) {
  using T = TypeParam;
  for (const FactorOptions& options : this->ways()) {
    for (const Index n : {1, 97, 260}) this->expect_cholesky_alike(this->positive_definite(n), options);
  }
  // Emulated products with rows taken once, BLAS products, and runs of panels.
  for (const FactorOptions& options : {FactorOptions{.arithmetic = Arithmetic::emulated, .block = 32, .group = 2},
                                       {.arithmetic = Arithmetic::native, .block = 128},
                                       {.arithmetic = Arithmetic::native, .block = 128, .group = 2}}) {
    this->expect_cholesky_alike(this->positive_definite(600), options);
  }
}

TYPED_TEST(HostMemory, CholeskyOfMatricesThatAreNotPositiveDefinite) {
  using T = TypeParam;
  for (const Index k : {0, 90, 149}) {
    HostMatrix<T> A = this->positive_definite(150);
    A(static_cast<std::size_t>(k), static_cast<std::size_t>(k)) = T(-1);
    for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
      const FactorOptions options{.arithmetic = arithmetic, .block = 8, .group = 2};
      this->expect_cholesky_alike(A, options);
      FactorOptions least = options;
      least.memory_limit =
          static_cast<std::size_t>(cholesky_memory<T>(150, this->comm.size(), options, true, Residence::host));
      const auto where = CholeskyPlan<T>(this->comm, 150, least, Residence::host).placement();
      EXPECT_EQ(cholesky(this->comm, this->spread(A, where), least).info, k + 1);
      least.memory_limit -= 1;
      test::expect_refusal(ErrorKind::memory, "cholesky: needs ",
                           [&] { cholesky(this->comm, this->spread(A, where), least); });
    }
  }
}

TYPED_TEST(HostMemory, SystemsWithFactorsThatStayThere) {
  using T = TypeParam;
  const Index n = 170;
  const int ranks = this->comm.size();
  const HostMatrix<T> A = test::host_random<T>(n, n, 13);
  for (const FactorOptions& options : {FactorOptions{.arithmetic = Arithmetic::native, .block = 8, .group = 2},
                                       {.arithmetic = Arithmetic::emulated, .block = 8, .group = 2}}) {
    for (const Index right : {1, 70}) {
      const HostMatrix<T> B = test::host_random<T>(n, right, 14);
      const Placement bands = Placement::row_bands(n, right, ranks);
      for (const Placement& where :
           {LuPlan<T>(this->comm, n, n, options).placement(), Placement::row_bands(n, n, ranks)}) {
        const DistributedMatrix<T> on_devices = this->spread(A, where);
        const LuReport factors = lu(this->comm, on_devices, options);
        const DistributedMatrix<T> in_host_memory =
            this->spread(this->everywhere(on_devices), where.in(Residence::host));
        for (const Operation op : {Operation::none, Operation::conjugate_transpose}) {
          const DistributedMatrix<T> expected = this->spread(B, bands);
          lu_solve(this->comm, op, on_devices, factors, expected, options);
          const DistributedMatrix<T> found = this->spread(B, bands.in(Residence::host));
          FactorOptions limited = options;
          limited.memory_limit =
              static_cast<std::size_t>(trsm_memory<T>(n, right, ranks, op, options, false, Residence::host) +
                                       2.0 * sizeof(T) * static_cast<double>(n * std::max<Index>(right, 64)));
          lu_solve(this->comm, op, in_host_memory, factors, found, limited);
          EXPECT_TRUE(test::same_bits<T>(this->everywhere(found), this->everywhere(expected)));
          limited.memory_limit = 1;
          test::expect_refusal(ErrorKind::memory, "lu_solve: needs ",
                               [&] { lu_solve(this->comm, op, in_host_memory, factors, found, limited); });
        }
        EXPECT_EQ(condition(this->comm, in_host_memory, factors, 1.0, options),
                  condition(this->comm, on_devices, factors, 1.0, options));
        EXPECT_EQ(determinant(this->comm, in_host_memory, factors).mantissa,
                  determinant(this->comm, on_devices, factors).mantissa);
      }
    }
  }
}

TYPED_TEST(HostMemory, SolutionsHaveTheBitsThatTheyHaveOnDevices) {
  using T = TypeParam;
  const Index n = 170;
  const int ranks = this->comm.size();
  // Rows of different sizes, so that they are equilibrated.
  HostMatrix<T> A = test::host_random<T>(n, n, 15);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) A(i, j) *= static_cast<Real<T>>(i % 3 == 0 ? 64 : 1);
  }
  HostMatrix<T> symmetric = this->positive_definite(n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < j; ++i) symmetric(i, j) = conjugate(symmetric(j, i));
  }
  const HostMatrix<T> B = test::host_random<T>(n, 5, 16);
  const Placement bands = Placement::row_bands(n, n, ranks);
  const Placement of_right = Placement::row_bands(n, 5, ranks);
  for (const SolveMethod method : {SolveMethod::lu, SolveMethod::cholesky}) {
    for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
      SCOPED_TRACE(message_of(to_string(method), ", ", to_string(arithmetic)));
      SolveOptions options{.method = method, .factorization = {.arithmetic = arithmetic, .block = 8, .group = 2}};
      options.certificate = arithmetic == Arithmetic::native;
      const HostMatrix<T>& matrix = method == SolveMethod::lu ? A : symmetric;
      const DistributedMatrix<T> expected(this->comm, of_right, "expected");
      const SolveReport on_devices =
          solve(this->comm, this->spread(matrix, bands), this->spread(B, of_right), expected, options);
      const double least = solve_memory<T>(n, 5, ranks, options, Residence::host);
      options.factorization.memory_limit = static_cast<std::size_t>(least);
      const DistributedMatrix<T> found(this->comm, of_right, "found");
      const DistributedMatrix<T> given = this->spread(matrix, bands.in(Residence::host));
      const SolveReport report = solve(this->comm, given, this->spread(B, of_right), found, options);
      EXPECT_EQ(report.factorization.info, 0);
      EXPECT_EQ(report.factorization.pivots, on_devices.factorization.pivots);
      EXPECT_EQ(report.equilibrated, on_devices.equilibrated);
      EXPECT_TRUE(test::same_bits<T>(this->everywhere(found), this->everywhere(expected)));
      EXPECT_TRUE(test::same_bits<T>(this->everywhere(given), matrix));
      EXPECT_LE(report.memory_bytes, least);
      EXPECT_LT(report.normwise_error, 16.0 * static_cast<double>(unit_roundoff<T>));
      EXPECT_TRUE(!options.certificate || report.error_bound < 1.0);
      options.factorization.memory_limit = static_cast<std::size_t>(least) - 1;
      test::expect_refusal(ErrorKind::memory, "solve: needs ",
                           [&] { solve(this->comm, given, this->spread(B, of_right), found, options); });
    }
  }
}

TYPED_TEST(HostMemory, LuSaysWhatIsTooLittle) {
  using T = TypeParam;
  const Index n = 200;
  const int ranks = this->comm.size();
  const FactorOptions options{.block = 8, .group = 2};
  const Placement placement = LuPlan<T>(this->comm, n, n, options, Residence::host).placement();
  EXPECT_EQ(placement.residence(), Residence::host);
  const HostMatrix<T> A = test::host_random<T>(n, n, 7);
  const DistributedMatrix<T> in_host_memory = this->spread(A, placement);
  const auto least = static_cast<std::size_t>(lu_memory<T>(n, n, ranks, options, true, Residence::host));
  FactorOptions limited = options;
  limited.memory_limit = least - 1;
  test::expect_refusal(ErrorKind::memory,
                       message_of("lu: needs ", least, " bytes (0.0 GiB) of memory on a rank; ", least - 1,
                                  " bytes (0.0 GiB) are allowed (memory_limit)"),
                       [&] { lu(this->comm, in_host_memory, limited); });
  EXPECT_TRUE(test::same_bits<T>(this->everywhere(in_host_memory), A));
  limited.memory_limit = least;
  const LuReport report = lu(this->comm, in_host_memory, limited);
  EXPECT_EQ(report.memory_bytes, static_cast<double>(least));
  // A plan for matrices in host memory also takes those in device memory.
  LuPlan<T> plan(this->comm, n, n, limited, Residence::host);
  const DistributedMatrix<T> bands = this->spread(A);
  if (static_cast<double>(least) >= lu_memory<T>(n, n, ranks, options, false, Residence::host)) {
    EXPECT_EQ(plan.execute(bands).pivots, report.pivots);
    EXPECT_TRUE(test::same_bits<T>(this->everywhere(bands), this->everywhere(in_host_memory)));
  }
}

TYPED_TEST(HostMemory, ProgressRises) {
  using T = TypeParam;
  const Index n = 170;
  FactorOptions options{.block = 8, .group = 2};
  options.memory_limit =
      static_cast<std::size_t>(lu_memory<T>(n, n, this->comm.size(), options, true, Residence::host));
  std::vector<double> shares;
  options.progress = [&](double share) { shares.push_back(share); };
  options.record_timeline = true;
  const Placement placement = LuPlan<T>(this->comm, n, n, {.block = 8, .group = 2}).placement();
  const LuReport report =
      lu(this->comm, this->spread(test::host_random<T>(n, n, 7), placement.in(Residence::host)), options);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  ASSERT_FALSE(shares.empty());
  EXPECT_GT(shares.front(), 0.0);
  EXPECT_NEAR(shares.back(), 1.0, 1e-12);
  // Every panel is factored once, by its number in the matrix.
  std::vector<double> factored(static_cast<std::size_t>((n + 7) / 8), 0.0);
  for (const TimelineInterval& interval : report.timeline) {
    if (interval.lane == 1) factored.at(static_cast<std::size_t>(interval.row_band)) += 1.0;
  }
  this->comm.all_reduce(std::span<double>(factored), Reduction::sum);
  for (const double times : factored) EXPECT_EQ(times, 1.0);
}

}  // namespace
}  // namespace heddle::host_memory_test
