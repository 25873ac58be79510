// QR over all ranks: bit by bit against its definition, and the same bits for any number of ranks and threads.
#include "over_ranks.hpp"
#include "solve/qr_definition.hpp"
#include "support/errors.hpp"
#include <heddle/solve/qr.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace heddle::qr_test {
namespace {

template <class T> class QrFactors : public test::OverRanks<T> {
 protected:
  using test::OverRanks<T>::comm;

  // Factor over the ranks and return the factors on every rank.
  HostMatrix<T> factored(const HostMatrix<T>& A, const Placement& placement, const QrOptions& options,
                         QrReport<T>& report) {
    const DistributedMatrix<T> distributed = this->spread(A, placement);
    report = qr(comm, distributed, options);
    return this->everywhere(distributed);
  }
};
TYPED_TEST_SUITE(QrFactors, test::AllScalars);

template <Scalar T> bool same(const std::vector<T>& one, const std::vector<T>& other) {
  return one.size() == other.size() &&
         (one.empty() || std::memcmp(one.data(), other.data(), one.size() * sizeof(T)) == 0);
}

// Columns and rows of all sizes in T's range, with zeros, and, for doubles, denormal numbers.
template <Scalar T> HostMatrix<T> hard(Index rows, Index columns) {
  const int reach = sizeof(Real<T>) == 8 ? 1000 : 120;
  return test::host_matrix<T>(rows, columns, [=](Index i, Index j) {
    const T x = test::RandomEntries<T>{4}(i, j);
    if (j % 7 == 5 || (i * j) % 11 == 10) return T(0);
    const auto power = static_cast<int>((j * 37 + i * 13) % (2 * reach) - reach);
    const Real<T> size = std::ldexp(Real<T>(1), j % 3 == 0 ? 0 : power);
    if constexpr (is_complex<T>) {
      return T(x.real() * size, x.imag() * size);
    } else {
      return x * size;
    }
  });
}

TYPED_TEST(QrFactors, EmulatedAreTheirDefinitionToTheBit) {
  using T = TypeParam;
  struct Case {
    Index rows, columns, block;
  };
  for (const Case& shape : {Case{1, 1, 0},
                            {1, 4, 0},
                            {5, 1, 0},
                            {9, 9, 4},
                            {33, 33, 8},
                            {70, 70, 24},
                            {600, 20, 16},
                            {1300, 37, 0},
                            {90, 41, 32},
                            {40, 93, 10}}) {
    for (const bool is_hard : {false, true}) {
      SCOPED_TRACE(message_of(shape.rows, " x ", shape.columns, ", blocks of ", shape.block, is_hard ? ", hard" : ""));
      const HostMatrix<T> A =
          is_hard ? hard<T>(shape.rows, shape.columns) : test::host_random<T>(shape.rows, shape.columns, 5);
      const HostMatrix<T> expected("expected", A.extent(0), A.extent(1));
      Kokkos::deep_copy(expected, A);
      const test::QrDefinition<T> definition(expected, shape.block == 0 ? 256 : shape.block);
      QrReport<T> report;
      const HostMatrix<T> found = this->factored(A, Placement::row_bands(shape.rows, shape.columns, this->comm.size()),
                                                 {.arithmetic = Arithmetic::emulated, .block = shape.block}, report);
      EXPECT_TRUE(same(report.tau, definition.tau));
      EXPECT_TRUE(test::same_bits<T>(found, expected));
    }
  }
}

TYPED_TEST(QrFactors, AnyRanksAndPlacementsHaveTheBitsOfOneRank) {
  using T = TypeParam;
  for (const auto& [rows, columns] : {std::pair<Index, Index>{601, 301}, {120, 350}}) {
    const HostMatrix<T> A = test::host_random<T>(rows, columns, 11);
    for (const QrOptions& options : {QrOptions{.arithmetic = Arithmetic::native},
                                     {.arithmetic = Arithmetic::native, .block = 150},
                                     {.arithmetic = Arithmetic::emulated},
                                     {.arithmetic = Arithmetic::emulated, .block = 32}}) {
      const MatrixView<T> alone = test::padded_on_device<T>(A);
      const QrReport<T> expected = qr(this->comm.space(), alone, options);
      const HostMatrix<T> B = test::host_random<T>(rows, 9, 12);
      const MatrixView<T> product = test::padded_on_device<T>(B);
      qr_multiply(this->comm.space(), Operation::conjugate_transpose, alone, expected.tau, product, options);
      for (const Placement& placement : {Placement::on_rank(rows, columns, this->comm.size() - 1),
                                         Placement::row_bands(rows, columns, this->comm.size()),
                                         QrPlan<T>(this->comm, rows, columns, options).placement()}) {
        SCOPED_TRACE(message_of(placement.describe(), ", ", to_string(options.arithmetic), ", ", options.block));
        const DistributedMatrix<T> distributed = this->spread(A, placement);
        const QrReport<T> report = qr(this->comm, distributed, options);
        EXPECT_TRUE(same(report.tau, expected.tau));
        EXPECT_TRUE(test::same_bits<T>(this->everywhere(distributed), test::to_host<T>(alone)));
        const DistributedMatrix<T> C = this->spread(B, Placement::column_bands(rows, 9, this->comm.size()));
        qr_multiply(this->comm, Operation::conjugate_transpose, distributed, report.tau, C, options);
        EXPECT_TRUE(test::same_bits<T>(this->everywhere(C), test::to_host<T>(product)));
      }
    }
  }
}

// Bits required on any machine, CPU or GPU, for any ranks and threads.
TEST(QrFactors, EmulatedHaveTheBitsOfEveryMachine) {
  const Communicator comm = test::world();
  const Index rows = 700;
  const Index columns = 310;
  const DistributedMatrix<double> A =
      test::random_matrix<double>(comm, Placement::row_bands(rows, columns, comm.size()), 3);
  const QrReport<double> report = qr(comm, A, {.arithmetic = Arithmetic::emulated, .block = 64});
  const HostMatrix<double> factors = gather(A, 0);
  if (comm.rank() != 0) return;
  std::uint64_t hash = 14695981039346656037ULL;
  const auto add = [&](const double* numbers, std::size_t count) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(numbers);
    for (std::size_t k = 0; k < count * sizeof(double); ++k) hash = (hash ^ bytes[k]) * 1099511628211ULL;
  };
  add(factors.data(), factors.size());
  add(report.tau.data(), report.tau.size());
  EXPECT_EQ(hash, 5868400055847670943ULL);
}

TYPED_TEST(QrFactors, APlanFactorsAgain) {
  using T = TypeParam;
  const Index n = 90;
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    QrPlan<T> plan(this->comm, n, n, {.arithmetic = arithmetic, .block = 64});
    const HostMatrix<T> A = test::host_random<T>(n, n, 2);
    const DistributedMatrix<T> first = this->spread(A, Placement::row_bands(n, n, this->comm.size()));
    const DistributedMatrix<T> other = this->spread(test::host_random<T>(n, n, 3), plan.placement());
    const DistributedMatrix<T> again = this->spread(A, plan.placement());
    const QrReport<T> expected = plan.execute(first);
    plan.execute(other);
    const QrReport<T> found = plan.execute(again);
    EXPECT_TRUE(same(found.tau, expected.tau));
    EXPECT_TRUE(test::same_bits<T>(this->everywhere(again), this->everywhere(first)));
    EXPECT_EQ(expected.info, 0);
    EXPECT_EQ(expected.arithmetic, arithmetic);
    EXPECT_EQ(expected.block, 64);
    EXPECT_EQ(expected.group, 1);
    EXPECT_GT(expected.gflops, 0.0);
  }
}

TYPED_TEST(QrFactors, EmptyMatrices) {
  using T = TypeParam;
  for (const auto& [rows, columns] : {std::pair<Index, Index>{0, 0}, {0, 4}, {4, 0}}) {
    QrReport<T> report;
    this->factored(HostMatrix<T>("empty", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)),
                   Placement::row_bands(rows, columns, this->comm.size()), {}, report);
    EXPECT_TRUE(report.tau.empty());
    EXPECT_EQ(report.info, 0);
  }
  // Products without columns, and without reflections.
  const HostMatrix<T> A = test::host_random<T>(6, 3, 1);
  QrReport<T> report;
  const HostMatrix<T> factors = this->factored(A, Placement::on_rank(6, 3, 0), {}, report);
  const DistributedMatrix<T> QR = this->spread(factors, Placement::on_rank(6, 3, 0));
  const DistributedMatrix<T> none(this->comm, Placement::row_bands(6, 0, this->comm.size()), "none");
  EXPECT_NO_THROW(qr_multiply(this->comm, Operation::none, QR, report.tau, none));
  const DistributedMatrix<T> empty(this->comm, Placement::row_bands(6, 0, this->comm.size()), "empty");
  const HostMatrix<T> B = test::host_random<T>(6, 2, 2);
  const DistributedMatrix<T> C = this->spread(B, Placement::row_bands(6, 2, this->comm.size()));
  qr_multiply(this->comm, Operation::none, empty, std::vector<T>(), C);
  EXPECT_TRUE(test::same_bits<T>(this->everywhere(C), B));
}

TYPED_TEST(QrFactors, RefusesWhatCannotBe) {
  using T = TypeParam;
  EXPECT_THROW(QrPlan<T>(this->comm, 4, 4, {.block = -1}), Error);
  EXPECT_THROW(QrPlan<T>(this->comm, -1, 4), Error);
  QrPlan<T> plan(this->comm, 4, 4);
  const Placement square = Placement::row_bands(4, 4, this->comm.size());
  const DistributedMatrix<T> A(this->comm, Placement::row_bands(4, 5, this->comm.size()), "A");
  EXPECT_THROW(plan.execute(A), Error);
  const DistributedMatrix<T> QR(this->comm, square, "QR");
  const DistributedMatrix<T> C(this->comm, square, "C");
  const DistributedMatrix<T> higher(this->comm, Placement::row_bands(5, 4, this->comm.size()), "higher");
  const std::vector<T> tau(4, T(0));
  EXPECT_THROW(qr_multiply(this->comm, Operation::none, QR, std::vector<T>(3, T(0)), C), Error);
  EXPECT_THROW(qr_multiply(this->comm, Operation::none, QR, tau, higher), Error);
  EXPECT_THROW(qr_form(this->comm, QR, tau, A), Error);
  test::expect_refusal(ErrorKind::argument, "qr_multiply: C shares storage with QR; expected storage of its own",
                       [&] { qr_multiply(this->comm, Operation::none, QR, tau, QR); });
  test::expect_refusal(ErrorKind::argument, "qr_form: Q shares storage with QR; expected storage of its own",
                       [&] { qr_form(this->comm, QR, tau, QR); });
  if (is_complex<T>) {
    EXPECT_THROW(qr_multiply(this->comm, Operation::transpose, QR, tau, C), Error);
  } else {
    EXPECT_NO_THROW(qr_multiply(this->comm, Operation::transpose, QR, tau, C));
  }
  const Kokkos::View<T**, Kokkos::LayoutRight, MemorySpace> rows("rows", 4, 4);
  EXPECT_THROW(qr<T>(this->comm.space(), MatrixView<T>(rows)), Error);
}

}  // namespace
}  // namespace heddle::qr_test
