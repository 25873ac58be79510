// Reported memory of factorizations and solutions, compared with Kokkos's allocations, and refusals.
#include "solve/grid/factorization.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/solve/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace heddle::memory_test {
namespace {

// Current allocations by address, their peak, and the allocations at the peak.
struct Block {
  std::string label;
  std::uint64_t bytes;
};
std::map<const void*, Block> held;
std::uint64_t bytes_held = 0;
std::uint64_t most_held = 0;
std::map<const void*, Block> held_at_most;

// Return the peak of the library's allocations during `work`, in bytes, on the rank with the highest peak. Scratch
// memory of Kokkos, and cuBLAS's memory and copies, are not counted (<heddle/solve/memory.hpp>).
template <class Work> double peak_of(const Communicator& comm, const Work& work) {
  namespace tools = Kokkos::Tools::Experimental;
  held.clear();
  bytes_held = 0;
  most_held = 0;
  held_at_most.clear();
  tools::set_allocate_data_callback(
      [](Kokkos_Profiling_SpaceHandle, const char* label, const void* address, std::uint64_t bytes) {
        const std::string name = label;
        if (name.rfind("Kokkos::", 0) == 0 || name.rfind("heddle::blas::", 0) == 0) return;
        held[address] = {name, bytes};
        bytes_held += bytes;
        if (bytes_held <= most_held) return;
        most_held = bytes_held;
        held_at_most = held;
      });
  tools::set_deallocate_data_callback(
      [](Kokkos_Profiling_SpaceHandle, const char*, const void* address, std::uint64_t) {
        const auto found = held.find(address);
        if (found == held.end()) return;
        bytes_held -= found->second.bytes;
        held.erase(found);
      });
  work();
  tools::set_allocate_data_callback(nullptr);
  tools::set_deallocate_data_callback(nullptr);
  return comm.all_reduce(static_cast<double>(most_held), Reduction::maximum);
}

// List the allocations at the peak on this rank.
std::string what_was_held() {
  std::string list;
  for (const auto& [address, block] : held_at_most) list += message_of("\n  ", block.bytes, " bytes: ", block.label);
  return list;
}

template <class T> class Memory : public ::testing::Test {
 protected:
  Communicator comm = test::world();
  [[nodiscard]] DistributedMatrix<T> random(const Placement& placement, int seed) const {
    const auto A = test::random_matrix<T>(comm, placement, seed);
    if (A.rows() == A.columns()) add_identity(T(static_cast<Real<T>>(4 * A.rows())), A);
    return A;
  }
  // Allowance for labels, small lists of numbers, and on GPUs words for the synchronization of teams.
  static constexpr double bookkeeping = impl::on_host ? 3e4 : 4e5;
  // Bytes of LuPlan's aligned copy of a matrix that cuBLAS's products would otherwise copy each time.
  static double aligned(const DistributedMatrix<T>& A, const FactorOptions& options) {
    const auto rows = static_cast<Index>(A.local().extent(0));
    const impl::GemmLayout layout = impl::gemm_layout<T>(2, 2);
    if (options.arithmetic == Arithmetic::emulated || layout.fits(nullptr, rows, rows)) return 0.0;
    const double columns = static_cast<double>(A.local().extent(1));
    return A.communicator().all_reduce(sizeof(T) * static_cast<double>(layout.leading(rows)) * columns,
                                       Reduction::maximum);
  }
  // Equal within some percent.
  static void expect_near(double said, double found, const std::string& what) {
    EXPECT_LE(found, said * 1.03 + bookkeeping) << what << what_was_held();
    EXPECT_GE(found, said * 0.95 - bookkeeping) << what << what_was_held();
  }
  // An upper bound: panels of messages are counted as if all were under way at once.
  static void expect_bounded(double said, double found, const std::string& what) {
    EXPECT_LE(found, said * 1.1 + bookkeeping) << what << what_was_held();
    EXPECT_GE(found, said * 0.3) << what << what_was_held();
  }
};
TYPED_TEST_SUITE(Memory, test::AllScalars);

TYPED_TEST(Memory, IsWhatFactorizationsTake) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  for (const Index n : {96, 301}) {
    for (const FactorOptions& options : {FactorOptions{}, FactorOptions{.block = 32, .group = 2},
                                         FactorOptions{.arithmetic = Arithmetic::emulated, .block = 16, .group = 4}}) {
      const std::string what = message_of("n = ", n, ", ", to_string(options.arithmetic), ", block ", options.block);
      const Placement of_lu = LuPlan<T>(this->comm, n, n, options).placement();
      const auto placed = this->random(of_lu, 1);
      double said = 0;
      const double found = peak_of(this->comm, [&] { said = lu(this->comm, placed, options).memory_bytes; });
      EXPECT_EQ(said, lu_memory<T>(n, n, ranks, options, true) + this->aligned(placed, options)) << what;
      this->expect_near(said, found, "lu, " + what);

      const auto bands = this->random(Placement::row_bands(n, n, ranks), 2);
      const double copied = peak_of(this->comm, [&] { said = lu(this->comm, bands, options).memory_bytes; });
      EXPECT_EQ(said, lu_memory<T>(n, n, ranks, options) + this->aligned(placed, options)) << what;
      this->expect_bounded(said, copied, "lu of bands, " + what);

      const auto positive = this->random(of_lu, 3);
      const double by_cholesky =
          peak_of(this->comm, [&] { said = cholesky(this->comm, positive, options).memory_bytes; });
      EXPECT_EQ(said, cholesky_memory<T>(n, ranks, options, true) + this->aligned(positive, options)) << what;
      this->expect_near(said, by_cholesky, "cholesky, " + what);
    }
  }
}

// Matrices in host memory, without their copies there.
TYPED_TEST(Memory, IsWhatSlabsTake) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  const Index n = 400;
  for (FactorOptions options : {FactorOptions{.block = 16, .group = 2},
                                FactorOptions{.arithmetic = Arithmetic::emulated, .block = 16, .group = 4}}) {
    const Placement where = LuPlan<T>(this->comm, n, n, options).placement().in(Residence::host);
    const auto A = this->random(where, 1);
    const double least = lu_memory<T>(n, n, ranks, options, true, Residence::host);
    options.memory_limit = static_cast<std::size_t>(least);
    double said = 0;
    const double found = peak_of(this->comm, [&] { said = lu(this->comm, A, options).memory_bytes; });
    EXPECT_EQ(said, least);
    this->expect_near(said, found, message_of("lu, ", to_string(options.arithmetic)));
    const auto B = this->random(where, 2);
    const double of_cholesky = cholesky_memory<T>(n, ranks, options, true, Residence::host);
    options.memory_limit = static_cast<std::size_t>(of_cholesky);
    const double taken = peak_of(this->comm, [&] { said = cholesky(this->comm, B, options).memory_bytes; });
    EXPECT_EQ(said, of_cholesky);
    this->expect_near(said, taken, message_of("cholesky, ", to_string(options.arithmetic)));
  }
}

TYPED_TEST(Memory, IsWhatSolutionsTake) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  const Index n = 250;
  for (const Index columns : {3, 70}) {
    for (const FactorOptions& options : {FactorOptions{.block = 32, .group = 2},
                                         FactorOptions{.arithmetic = Arithmetic::emulated, .block = 16, .group = 4}}) {
      const std::string what = message_of(columns, " columns, ", to_string(options.arithmetic));
      const auto A = this->random(LuPlan<T>(this->comm, n, n, options).placement(), 1);
      const auto X = this->random(Placement::row_bands(n, columns, ranks), 2);
      const auto B = this->random(Placement::row_bands(n, columns, ranks), 3);
      const auto M = this->random(Placement::row_bands(n, n, ranks), 4);
      for (const Operation op : {Operation::none, Operation::transpose}) {
        const double found =
            peak_of(this->comm, [&] { trsm(this->comm, Triangle::lower, op, Diagonal::stored, M, X, options); });
        this->expect_bounded(trsm_memory<T>(n, columns, ranks, op, options), found, "trsm, " + what);
      }
      for (const SolveMethod method : {SolveMethod::lu, SolveMethod::cholesky}) {
        SolveOptions all{.method = method, .factorization = options, .refinements = 1, .measure = false};
        double said = 0;
        const double found = peak_of(this->comm, [&] { said = solve(this->comm, A, B, X, all).memory_bytes; });
        EXPECT_EQ(said, solve_memory<T>(n, columns, ranks, all));
        this->expect_bounded(said, found, message_of("solve by ", to_string(method), ", ", what));
        all.certificate = true;
        const double proven = peak_of(this->comm, [&] { said = solve(this->comm, A, B, X, all).memory_bytes; });
        EXPECT_LE(proven, said * 1.03 + this->bookkeeping) << "certificate, " << what << what_was_held();
      }
    }
  }
}

TYPED_TEST(Memory, OfWhatCannotBeIsRefused) {
  using T = TypeParam;
  const int ranks = this->comm.size();
  constexpr Index many = Index{1} << 40;
  test::expect_refusal(ErrorKind::argument, "solve_memory: -1 refinements; expected 0 or more",
                       [&] { static_cast<void>(solve_memory<T>(8, 1, ranks, {.refinements = -1})); });
  test::expect_refusal(ErrorKind::argument, "expected fewer than 2^31 rows or columns",
                       [&] { static_cast<void>(lu_memory<T>(many, many, ranks)); });
  test::expect_refusal(ErrorKind::argument, "expected fewer than 2^31 rows or columns",
                       [&] { LuPlan<T>(this->comm, many, many); });
  // Several ranks need a copy in columns; one factors the matrix where it is.
  EXPECT_GT(lu_memory<T>(many, 4, ranks), ranks > 1 ? 1e12 : 0.0);
}

TYPED_TEST(Memory, BeyondTheLimitIsRefusedBeforeWork) {
  using T = TypeParam;
  const Index n = 200;
  const auto limited = [](std::size_t limit) { return FactorOptions{.block = 32, .group = 2, .memory_limit = limit}; };
  const Placement bands = Placement::row_bands(n, n, this->comm.size());
  const auto A = this->random(bands, 1);
  const auto before = gather(A, 0);
  const auto B = this->random(Placement::row_bands(n, 5, this->comm.size()), 2);
  const auto X = this->random(Placement::row_bands(n, 5, this->comm.size()), 3);
  const auto refused = [&](const std::string& of, double needed, const auto& call) {
    test::expect_refusal(ErrorKind::memory,
                         message_of(of, ": needs ", static_cast<Index>(needed),
                                    " bytes (0.0 GiB) of memory on a rank; "
                                    "1 bytes (0.0 GiB) are allowed (memory_limit)"),
                         call);
  };
  const int ranks = this->comm.size();
  refused("lu", lu_memory<T>(n, n, ranks, limited(1), true), [&] { lu(this->comm, A, limited(1)); });
  refused("cholesky", cholesky_memory<T>(n, ranks, limited(1), true), [&] { cholesky(this->comm, A, limited(1)); });
  refused("solve", solve_memory<T>(n, 5, ranks, {.factorization = limited(1)}),
          [&] { solve(this->comm, A, B, X, {.factorization = limited(1)}); });
  test::expect_refusal(ErrorKind::memory, "lu_solve: needs ", [&] {
    LuReport factors;
    for (Index k = 0; k < n; ++k) factors.pivots.push_back(k);
    lu_solve(this->comm, Operation::none, A, factors, X, limited(1));
  });
  test::expect_refusal(ErrorKind::memory, "inverse: needs ", [&] { inverse(this->comm, A, limited(1)); });
  const auto after = gather(A, 0);
  EXPECT_EQ(std::memcmp(before.data(), after.data(), before.size() * sizeof(T)), 0);
  // The needed bytes are enough as a limit; if bands are redistributed, their copy must be allowed too.
  const auto needed = static_cast<std::size_t>(lu_memory<T>(n, n, ranks, limited(1)));
  if (ranks > 1) {
    const auto without = static_cast<std::size_t>(lu_memory<T>(n, n, ranks, limited(1), true));
    test::expect_refusal(ErrorKind::memory, "lu: needs ", [&] { lu(this->comm, A, limited(without)); });
  }
  EXPECT_EQ(lu(this->comm, A, limited(needed)).info, 0);
  test::expect_refusal(ErrorKind::argument, "lu_memory: 0 ranks", [] { static_cast<void>(lu_memory<T>(3, 3, 0)); });
}

}  // namespace
}  // namespace heddle::memory_test
