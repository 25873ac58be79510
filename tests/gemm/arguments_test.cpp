// Arguments that products refuse (shared storage, differences between ranks, invalid machine rates), and scalars that
// they accept.
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/exact/distributed.hpp>
#include <heddle/exact/matrix.hpp>
#include <heddle/exact/vector.hpp>
#include <heddle/gemm/gemm.hpp>
#include <heddle/transpose/distributed.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <limits>

namespace heddle::arguments_test {
namespace {

constexpr auto plain = Operation::none;

template <class T> class GemmArguments : public ::testing::Test {
 protected:
  Communicator comm = test::world();
  [[nodiscard]] Placement bands(Index rows, Index columns) const {
    return Placement::row_bands(rows, columns, comm.size());
  }
};
TYPED_TEST_SUITE(GemmArguments, test::AllScalars);

TYPED_TEST(GemmArguments, CIsNeitherANorB) {
  using T = TypeParam;
  const Index n = 12;
  const auto A = test::random_matrix<T>(this->comm, this->bands(n, n), 1);
  const auto B = test::random_matrix<T>(this->comm, this->bands(n, n), 2);
  const DistributedMatrix<T> C(this->comm, this->bands(n, n));
  for (const GemmOptions& options :
       {GemmOptions{.tile = 5}, GemmOptions{.tile = 5, .arithmetic = Arithmetic::emulated}}) {
    GemmPlan<T> plan(this->comm, plain, this->bands(n, n), plain, this->bands(n, n), this->bands(n, n), options);
    EXPECT_NE(test::refusal_of([&] { plan.execute(T(1), A, B, T(0), A); }).find("gemm: C shares storage with A"),
              std::string::npos);
    EXPECT_NE(test::refusal_of([&] { plan.execute(T(1), A, B, T(1), B); }).find("gemm: C shares storage with B"),
              std::string::npos);
    // Copies are shallow.
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
    const DistributedMatrix<T> again = B;
    EXPECT_NE(test::refusal_of([&] { gemm(this->comm, plain, plain, 1, A, B, 0, again, options); }), "");
    EXPECT_EQ(test::refusal_of([&] { plan.execute(T(1), A, A, T(0), C); }), "");
  }
}

// If storage is shared on one rank alone, all ranks refuse.
TYPED_TEST(GemmArguments, WhereOneRankSharesAllRefuse) {
  using T = TypeParam;
  const Index n = 6;
  for (int rank = 0; rank < this->comm.size(); ++rank) {
    const Placement there = Placement::on_rank(n, n, rank);
    const auto A = test::random_matrix<T>(this->comm, there, 1);
    const auto B = test::random_matrix<T>(this->comm, this->bands(n, n), 2);
    EXPECT_NE(test::refusal_of([&] { gemm(this->comm, plain, plain, 1, A, B, 0, A, {.tile = 3}); }), "") << rank;
    const DistributedMatrix<T> C(this->comm, there);
    EXPECT_EQ(test::refusal_of([&] { gemm(this->comm, plain, plain, 1, A, B, 0, C, {.tile = 3}); }), "") << rank;
  }
}

// Parts of one array of the caller's: disjoint parts are accepted, even if interleaved.
TYPED_TEST(GemmArguments, PartsOfOneArray) {
  using T = TypeParam;
  const std::size_t n = 4;
  const LocalMatrix<T> array("heddle::test::array", 8 * n, 4 * n);
  Kokkos::deep_copy(array, T(1));
  const Communicator alone(MPI_COMM_SELF);
  const auto part = [&](std::size_t row, std::size_t column, std::size_t columns_apart) {
    const MatrixView<T> view(array.data() + row + column * 8 * n, Kokkos::LayoutStride(n, 1, n, columns_apart * 8 * n));
    return DistributedMatrix<T>(alone, Placement::on_rank(n, n, 0), view);
  };
  const auto refused = [&](const DistributedMatrix<T>& A, const DistributedMatrix<T>& B,
                           const DistributedMatrix<T>& C) {
    const bool found = !test::refusal_of([&] { gemm(alone, plain, plain, 1, A, B, 0, C, {.tile = 3}); }).empty();
    const bool locally = !test::refusal_of([&] {
                            blas::gemm(ExecutionSpace{}, plain, plain, 1, A.local(), B.local(), 0, C.local());
                          }).empty();
    EXPECT_EQ(found, locally);
    const bool exactly = !test::refusal_of([&] {
                            exact::gemm(ExecutionSpace{}, plain, plain, 1, A.local(), B.local(), 0, C.local());
                          }).empty();
    EXPECT_EQ(found, exactly);
    EmulatedGemm<T> emulated(ExecutionSpace{}, n, n, n);
    EXPECT_EQ(found, !test::refusal_of([&] { emulated(plain, plain, 1, A.local(), B.local(), 0, C.local()); }).empty());
    const Quantised<T> left(ExecutionSpace{}, Factor::left, plain, A.local());
    const Quantised<T> right(ExecutionSpace{}, Factor::right, plain, B.local());
    EXPECT_EQ(found, !test::refusal_of([&] { emulated(1, left, right, 0, C.local()); }).empty());
    Kokkos::fence();
    return found;
  };
  const auto A = part(0, 0, 1);
  const auto B = part(n, 0, 1);
  EXPECT_FALSE(refused(A, B, part(2 * n, 0, 1)));  // rows below
  EXPECT_FALSE(refused(A, B, part(0, n, 1)));      // columns beside
  EXPECT_TRUE(refused(A, B, part(n - 1, 0, 1)));
  EXPECT_TRUE(refused(A, B, part(0, n - 1, 1)));
  EXPECT_TRUE(refused(A, B, part(2 * n - 1, n - 1, 1)));
  EXPECT_FALSE(refused(A, B, part(2 * n, n - 1, 1)));
  EXPECT_TRUE(refused(A, A, A));
  EXPECT_FALSE(refused(A, A, B));
  // Every second column.
  const auto even = part(0, 0, 2);
  EXPECT_FALSE(refused(even, even, part(0, 1, 2)));
  EXPECT_TRUE(refused(even, even, part(0, 2, 2)));
  EXPECT_TRUE(refused(even, part(n, 0, 2), part(n - 1, 4, 2)));
}

TYPED_TEST(GemmArguments, DifferencesBetweenRanksAreRefusedOnAll) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  const bool last = this->comm.rank() == ranks - 1 && ranks > 1;
  const Index n = 8;
  const auto a = this->bands(n, n);
  const auto expect = [&](const Placement& placed, Operation op, const GemmOptions& options, const char* what) {
    const std::string text = test::refusal_of([&] { GemmPlan<T>(this->comm, op, placed, plain, a, a, options); });
    EXPECT_EQ(text.empty(), ranks == 1) << text;
    if (ranks > 1) {
      EXPECT_NE(text.find(what), std::string::npos) << text;
      EXPECT_NE(text.find("expected the same on every rank"), std::string::npos) << text;
    }
  };
  expect(a, last ? Operation::transpose : plain, {.tile = 4}, "op(A) is T");
  expect(last ? Placement::on_rank(n, n, 0) : a, plain, {.tile = 4}, "A is 8 x 8 on rank 0");
  expect(a, plain, {.tile = last ? 5 : 4}, "tile is 5");
  expect(a, plain, {.tile = 4, .bands_per_pass = last ? 2 : 1}, "bands_per_pass is 2");
  expect(a, plain, {.tile = 4, .arithmetic = last ? Arithmetic::emulated : Arithmetic::native}, "arithmetic is");
  expect(a, plain, {.tile = 4, .tiles = last ? GemmTiles::half : GemmTiles::all}, "half of the tiles");
  MachineRates rates;
  rates.gemm = {{8, last ? 1e9 : 2e9, 0.0}};
  rates.memory_bandwidth = 1e10;
  expect(a, plain, {.tile = 4, .rates = rates}, "rates");
  expect(a, plain, {.tile = 4, .emulation = {.moduli = last ? 15 : 14}}, "emulation.moduli is 15");
  expect(a, plain, {.tile = 4, .layers = last ? 2 : 1}, "layers is 2");
  // An invalid argument on one rank alone is refused on all ranks.
  if (ranks > 1) {
    EXPECT_NE(test::refusal_of([&] { GemmPlan<T>(this->comm, plain, a, plain, a, a, {.tile = last ? -1 : 4}); }), "");
    const auto A = test::random_matrix<T>(this->comm, a, 1);
    const DistributedMatrix<T> C(this->comm, a);
    GemmPlan<T> plan(this->comm, plain, a, plain, a, a, {.tile = 4});
    EXPECT_NE(test::refusal_of([&] { plan.execute(last ? T(2) : T(1), A, A, T(0), C); }).find("alpha is"),
              std::string::npos);
    EXPECT_NE(test::refusal_of([&] { plan.execute(T(1), A, A, last ? T(2) : T(0), C); }).find("beta is"),
              std::string::npos);
    EXPECT_NE(test::refusal_of([&] {
                TransposePlan<T>(this->comm, a, last ? Operation::transpose : Operation::conjugate_transpose, a);
              }).find("transpose: op is T"),
              std::string::npos);
    // The plan is still usable.
    EXPECT_EQ(test::refusal_of([&] { plan.execute(T(1), A, A, T(0), C); }), "");
  }
}

TYPED_TEST(GemmArguments, LayersThatAreNotForAProductAreRefused) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  const Placement a = this->bands(8, 8);
  const auto refusal = [&](const Placement& of_c, const GemmOptions& options) {
    return test::refusal_of([&] { GemmPlan<T>(this->comm, plain, a, plain, a, of_c, options); });
  };
  const auto expect = [&](const std::string& text, const char* words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  expect(refusal(a, {.layers = -1}), "gemm: -1 layers; expected at least 1, or 0 for the model's choice");
  expect(refusal(a, {.layers = 9}), "gemm: 9 layers of an inner dimension of 8");
  expect(refusal(a, {.layers = 2, .arithmetic = Arithmetic::emulated}),
         "gemm: 2 layers with the arithmetic emulated; emulated products, whose bits no cut may change, have one");
  expect(refusal(a, {.layers = 2, .arithmetic = Arithmetic::automatic}), "with the arithmetic auto;");
  expect(refusal(a, {.layers = 2, .tiles = GemmTiles::half}), "gemm: 2 layers of half of the tiles; expected one");
  expect(refusal(a.in(Residence::host), {.layers = 2}), "gemm: 2 layers of matrices in host memory (");
  expect(refusal(a, {.grid = {ranks, 1}, .layers = ranks + 1}), "");
  if (ranks > 1) {
    expect(refusal(a, {.grid = {ranks, 1}, .layers = ranks}), "ranks for each of");
    EXPECT_EQ(refusal(a, {.grid = {1, 1}, .layers = ranks}), "");
  }
  EXPECT_EQ(refusal(a, {.layers = 8}), "");
  EXPECT_EQ(refusal(a, {.layers = 1, .tiles = GemmTiles::half, .arithmetic = Arithmetic::emulated}), "");
  EXPECT_EQ(test::refusal_of(
                [&] { GemmPlan<T>(this->comm, plain, this->bands(8, 0), plain, this->bands(0, 8), a, {.layers = 2}); }),
            "");
}

// A tile near the largest integer, with which bands could not be counted.
TYPED_TEST(GemmArguments, TilesAndBandsBeyond32BitsAreRefused) {
  using T = TypeParam;
  const Placement a = this->bands(8, 8);
  const auto planned = [&](const Placement& of, const GemmOptions& options) {
    return [&, of, options] { GemmPlan<T>(this->comm, plain, of, plain, of, of, options); };
  };
  test::expect_refusal(ErrorKind::argument, "gemm: tile 9223372036854775807; expected at most 2147483647",
                       planned(a, {.tile = std::numeric_limits<Index>::max()}));
  test::expect_refusal(ErrorKind::argument, "layers; expected fewer than 2^31 bands",
                       planned(this->bands(Index{1} << 40, Index{1} << 40), {}));
  EXPECT_NO_THROW(planned(a, {.tile = std::numeric_limits<int>::max()})());
}

TYPED_TEST(GemmArguments, RatesOfNoMachineAreRefused) {
  using T = TypeParam;
  const auto a = this->bands(8, 8);
  const auto refused = [&](const MachineRates& rates) {
    const std::string text =
        test::refusal_of([&] { GemmPlan<T>(this->comm, plain, a, plain, a, a, {.rates = rates}); });
    EXPECT_EQ(text,
              test::refusal_of([&] { GemmPlan<T>(this->comm, plain, a, plain, a, a, {.tile = 4, .rates = rates}); }));
    EXPECT_EQ(text.empty(), test::refusal_of([&] {
                              static_cast<void>(tile_bounds(rates, {8, 8, 8, 2, 8, 2.0}));
                            }).empty());
    return text.find("gemm: the rates given can't be used: ") == 0;
  };
  EXPECT_TRUE(refused(MachineRates{}));
  MachineRates good;
  good.gemm = {{8, 1e9, 0.0}, {16, 2e9, 0.0}};
  good.memory_bandwidth = 1e10;
  EXPECT_FALSE(refused(good));
  const auto with = [&](const auto& change) {
    MachineRates bad = good;
    change(bad);
    return bad;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(refused(with([](MachineRates& r) { r.gemm.clear(); })));
  EXPECT_TRUE(refused(with([](MachineRates& r) { r.gemm[1].tile = 8; })));
  EXPECT_TRUE(refused(with([](MachineRates& r) { r.gemm[0].flops = 0; })));
  EXPECT_TRUE(refused(with([&](MachineRates& r) { r.gemm[1].flops = nan; })));
  EXPECT_TRUE(refused(with([](MachineRates& r) { r.memory_bandwidth = 0; })));
  EXPECT_TRUE(refused(with([](MachineRates& r) { r.link_bandwidth = -1; })));
  EXPECT_TRUE(refused(with([&](MachineRates& r) { r.latency = nan; })));
  EXPECT_TRUE(refused(with([](MachineRates& r) { r.overlap = 2; })));
  EXPECT_TRUE(refused(with([](MachineRates& r) { r.node_overlap = -1; })));
  EXPECT_TRUE(refused(with([](MachineRates& r) { r.warm = {{1.0, 1.5}}; })));
  EXPECT_TRUE(refused(with([](MachineRates& r) { r.warm = {{1.0, 0.5}, {0.5, 1.0}}; })));
  EXPECT_TRUE(refused(with([&](MachineRates& r) { r.gemm[0].warm_flops = nan; })));
  // If only warm-up times are known, the rates are unchanged.
  EXPECT_FALSE(refused(with([](MachineRates& r) { r.warm = {{1.0, 1.0}}; })));
  EXPECT_NE(test::refusal_of([] { static_cast<void>(MachineRates{}.flops_at(8)); }), "");
}

// Scalars may be of any type that converts to the elements: this must compile and compute the product.
template <Scalar T, class Number> void expect_scalars(const Communicator& comm, Number two, Number none) {
  const Index n = 5;
  const Placement all = Placement::row_bands(n, n, comm.size());
  const DistributedMatrix<T> A(comm, all);
  const DistributedMatrix<T> B(comm, all);
  const DistributedMatrix<T> C(comm, all);
  fill(A, two);
  scale(two, A);
  add(two, A, A);
  fill(B, none);
  add_identity(two, B);
  gemm(comm, plain, plain, two, A, B, none, C, {.tile = 3});
  // 2 * 2 = 4, + 2 * 4 = 12, times 2 times 2.
  if (const auto found = gather(C, 0); comm.rank() == 0) {
    EXPECT_EQ(found(n - 1, 0), T(48));
  }
  transpose(comm, two, A, Operation::transpose, C);
  complete_symmetric(comm, C, 2, T(1));
  gemm(comm, plain, plain, two, A, B, none, C, {.tile = 3, .tiles = GemmTiles::half});
  const std::vector<T> x(static_cast<std::size_t>(n), T(1));
  std::vector<T> y(static_cast<std::size_t>(n), T(1));
  exact::gemv(comm, plain, two, A, x, none, y);
  EXPECT_EQ(y.front(), T(2 * 12 * n));
  const LocalMatrix<T> a("heddle::test::a", 3, 3);
  const LocalMatrix<T> c("heddle::test::c", 3, 3);
  Kokkos::deep_copy(a, T(1));
  const ExecutionSpace space;
  blas::gemm(space, plain, plain, two, a, a, none, MatrixView<T>(c));
  exact::gemm(space, plain, plain, two, a, a, two, c);
  exact::gemv(space, plain, two, a, Kokkos::subview(a, Kokkos::ALL, 0), none, Kokkos::subview(c, Kokkos::ALL, 0));
  exact::scal(space, two, Kokkos::subview(c, Kokkos::ALL, 0));
  exact::invscal(space, two, Kokkos::subview(c, Kokkos::ALL, 0));
  exact::axpy(space, two, Kokkos::subview(a, Kokkos::ALL, 0), Kokkos::subview(c, Kokkos::ALL, 1));
  EmulatedGemm<T>(space, 3, 3, 3)(plain, plain, two, a, a, none, c);
  Kokkos::fence();
  EXPECT_EQ(test::to_host<T>(c)(2, 2), T(6));
}

TYPED_TEST(GemmArguments, ScalarsAreWhateverConverts) {
  using T = TypeParam;
  expect_scalars<T>(this->comm, 2, 0);
  expect_scalars<T>(this->comm, 2.0, 0.0);
  expect_scalars<T>(this->comm, 2.0F, 0.0F);
  if constexpr (is_complex<T>) {
    using Standard = std::complex<Real<T>>;
    expect_scalars<T>(this->comm, Standard(2), Standard(0));
    expect_scalars<T>(this->comm, T(2), T(0));
  }
  const DistributedMatrix<float> A(this->comm, this->bands(3, 3));
  fill(A, 1);
  scale(-1.0, A);
  EXPECT_EQ(norm(A, Norm::maximum), 1.0F);
}

}  // namespace
}  // namespace heddle::arguments_test
