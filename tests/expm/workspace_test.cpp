// Memory that an ExpmPlan keeps from one execute() to the next.
#include "support/allocations.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/expm/expm.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heddle::workspace_test {
namespace {

constexpr Index points = 160;

// Only matrices count: at least half of a rank's band. A redistribution between bands has its own buffers, and so have
// the transports of messages.
template <class Work> std::vector<std::string> allocations_of(int ranks, const Work& work) {
  auto labels = test::allocations_of(work, points * points * sizeof(double) / 2 / static_cast<std::uint64_t>(ranks));
  std::erase_if(labels, [](const std::string& label) {
    return label.starts_with("heddle::dist::exchange") || label.starts_with("heddle::dist::indices") ||
           label.starts_with("heddle::comm::");
  });
  return labels;
}

struct Fixture {
  explicit Fixture(Index n)
      : comm(test::world()),
        rows(Placement::row_bands(n, n, comm.size())),
        columns(Placement::column_bands(n, n, comm.size())),
        A(comm, rows, "A"),
        columns_of_A(comm, columns, "columns_of_A"),
        E{DistributedMatrix<double>(comm, rows, "E_real"), DistributedMatrix<double>(comm, rows, "E_imaginary")} {
    fill(A, test::SymmetricEntries{11});
    fill(columns_of_A, test::SymmetricEntries{11});
  }
  Communicator comm;
  Placement rows;
  Placement columns;
  DistributedMatrix<double> A;
  DistributedMatrix<double> columns_of_A;
  SplitMatrix<double> E;
};

TEST(ExpmWorkspace, IsAllocatedOnce) {
  const Fixture of(points);
  const SplitMatrix<double> imaginary{std::nullopt, of.A};
  const SplitMatrix<double> complex{of.A, of.A};
  for (const int degree : {0, 1, 2, 7, 10}) {
    for (const SplitMatrix<double>* A : {&imaginary, &complex}) {
      ExpmOptions options;
      if (degree > 0) {
        options.method = ExpmMethod::taylor;
        options.degree = degree;
      }
      options.gemm.tile = 48;
      ExpmPlan<double> plan(of.comm, options);
      const auto first = allocations_of(of.comm.size(), [&] { plan.execute(*A, of.E); });
      // I + A is written directly to the destination.
      EXPECT_TRUE(degree == 1 || !first.empty());
      const auto again = allocations_of(of.comm.size(), [&] { plan.execute(*A, of.E); });
      EXPECT_TRUE(again.empty()) << again.size() << " allocations, the first of " << again.front() << ", degree "
                                 << degree;
    }
  }
}

TEST(ExpmWorkspace, ColumnsThatTheCallerHasChangeNoBit) {
  const Fixture of(points);
  for (const int degree : {0, 10}) {
    ExpmOptions options;
    if (degree > 0) {
      options.method = ExpmMethod::taylor;
      options.degree = degree;
    }
    options.gemm.tile = 48;
    ExpmPlan<double> plan(of.comm, options);
    plan.execute({std::nullopt, of.A}, of.E);
    const auto real = gather(*of.E.real, 0);
    const auto imaginary = gather(*of.E.imaginary, 0);
    plan.execute({std::nullopt, of.A}, {std::nullopt, of.columns_of_A}, of.E);
    EXPECT_TRUE(test::same_bits(gather(*of.E.real, 0), real));
    EXPECT_TRUE(test::same_bits(gather(*of.E.imaginary, 0), imaginary));
    // In any other placement the bits are the same.
    const SplitMatrix<double> elsewhere{DistributedMatrix<double>(of.comm, Placement::on_rank(points, points, 0)),
                                        DistributedMatrix<double>(of.comm, of.columns)};
    plan.execute({std::nullopt, of.A}, elsewhere);
    EXPECT_TRUE(test::same_bits(gather(*elsewhere.real, 0), real));
    EXPECT_TRUE(test::same_bits(gather(*elsewhere.imaginary, 0), imaginary));
  }
  if (of.comm.size() > 1) {
    test::expect_refusal(ErrorKind::argument, "expm: the column bands of A are", [&] {
      ExpmPlan<double>(of.comm).execute({std::nullopt, of.A}, {std::nullopt, of.A}, of.E);
    });
  }
}

}  // namespace
}  // namespace heddle::workspace_test
