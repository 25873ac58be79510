// heddle lu: the reproducible LU factorization of a matrix from a file or generated.
#include "commands.hpp"
#include "support/clock.hpp"
#include "support/matrices.hpp"
#include "support/scalars.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include <heddle/exact/lu.hpp>
#include <heddle/io/matrix_file.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace heddle::driver {
namespace {

struct Options {
  std::string input, l, u, pivots;
  Index size = -1;
  std::uint64_t seed = 1;
  std::string scalar;
  int block = 0;
  bool compare = false;
};

template <Scalar T> using HostMatrixOf = Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

template <Scalar T> HostMatrixOf<T> on_the_host(const MatrixView<T>& A) {
  const Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace> dense("heddle::driver::dense", A.extent(0), A.extent(1));
  Kokkos::deep_copy(dense, A);
  const HostMatrixOf<T> host("heddle::driver::host", A.extent(0), A.extent(1));
  Kokkos::deep_copy(host, dense);
  return host;
}
template <Scalar T> double size_of(const T& x) {
  return static_cast<double>(Kokkos::abs(x));
}
template <Scalar T> double largest(const HostMatrixOf<T>& A) {
  double most = 0;
  for (std::size_t j = 0; j < A.extent(1); ++j) {
    for (std::size_t i = 0; i < A.extent(0); ++i) most = std::max(most, size_of(A(i, j)));
  }
  return most;
}

// The same algorithm with plain sums.
template <Scalar T> std::vector<Index> plain_lu(const HostMatrixOf<T>& A) {
  const std::size_t m = A.extent(0);
  const std::size_t n = A.extent(1);
  std::vector<Index> pivots;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < std::min(j, m); ++k) {
      for (std::size_t i = k + 1; i < m; ++i) A(i, j) -= A(i, k) * A(k, j);
    }
    if (j >= m) continue;
    std::size_t pivot = j;
    for (std::size_t i = j + 1; i < m; ++i) pivot = size_of(A(i, j)) > size_of(A(pivot, j)) ? i : pivot;
    pivots.push_back(static_cast<Index>(pivot));
    for (std::size_t k = 0; k < n && pivot != j; ++k) std::swap(A(j, k), A(pivot, k));
    for (std::size_t i = j + 1; i < m && A(j, j) != T(0); ++i) A(i, j) = A(i, j) / A(j, j);
  }
  return pivots;
}

// Writes columns of host memory as a matrix.
template <Scalar T, class Element>
void write_host(const Communicator& comm, const std::string& path, Index rows, Index columns, const Element& element) {
  if (path.empty()) return;
  const DistributedMatrix<T> A(comm, placement_from("rank:0", rows, columns, 1));
  const HostMatrixOf<T> host("heddle::driver::host", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) host(i, j) = element(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
  }
  const Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace> dense("heddle::driver::dense", host.extent(0),
                                                                 host.extent(1));
  Kokkos::deep_copy(dense, host);
  Kokkos::deep_copy(A.local(), dense);
  write_matrix(path, A);
}

// max |P A - L U| / (|L| |U|), element by element, of products rounded once.
template <Scalar T>
double backward_error(const HostMatrixOf<T>& A, const HostMatrixOf<T>& LU, const std::vector<Index>& order) {
  using Dense = Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace>;
  using Sizes = Kokkos::View<Real<T>**, Kokkos::LayoutLeft, MemorySpace>;
  const std::size_t m = A.extent(0);
  const std::size_t n = A.extent(1);
  const std::size_t steps = std::min(m, n);
  const Dense L("heddle::driver::L", m, steps);
  const Dense U("heddle::driver::U", steps, n);
  const Dense R("heddle::driver::R", m, n);
  const Sizes L_sizes("heddle::driver::L_sizes", m, steps);
  const Sizes U_sizes("heddle::driver::U_sizes", steps, n);
  const Sizes bound("heddle::driver::bound", m, n);
  const auto fill = [](const auto& target, const auto& element) {
    const auto host = Kokkos::create_mirror_view(target);
    for (std::size_t j = 0; j < host.extent(1); ++j) {
      for (std::size_t i = 0; i < host.extent(0); ++i) host(i, j) = element(i, j);
    }
    Kokkos::deep_copy(target, host);
  };
  const auto l = [&](std::size_t i, std::size_t j) { return i > j ? LU(i, j) : i == j ? T(1) : T(0); };
  const auto u = [&](std::size_t i, std::size_t j) { return i <= j ? LU(i, j) : T(0); };
  fill(L, l);
  fill(U, u);
  fill(R, [&](std::size_t i, std::size_t j) { return A(static_cast<std::size_t>(order[i]), j); });
  fill(L_sizes, [&](std::size_t i, std::size_t j) { return Kokkos::abs(l(i, j)); });
  fill(U_sizes, [&](std::size_t i, std::size_t j) { return Kokkos::abs(u(i, j)); });
  exact::gemm(ExecutionSpace(), Operation::none, Operation::none, T(-1), L, U, T(1), R);
  exact::gemm(ExecutionSpace(), Operation::none, Operation::none, Real<T>(1), L_sizes, U_sizes, Real<T>(0), bound);
  const auto rest = Kokkos::create_mirror_view(R);
  Kokkos::deep_copy(rest, R);
  const auto most = Kokkos::create_mirror_view(bound);
  Kokkos::deep_copy(most, bound);
  double worst = 0;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < m; ++i) {
      const double off = size_of(rest(i, j));
      if (!(off == 0)) worst = std::fmax(worst, std::isnan(off) ? INFINITY : off / static_cast<double>(most(i, j)));
    }
  }
  return worst;
}

template <Scalar T> int run_as(Context& context, const Options& options) {
  const Communicator& comm = context.comm();
  auto report = context.report("lu");
  auto start = std::chrono::steady_clock::now();
  const auto A = options.input.empty() ? random_matrix<T>(comm, options.size, options.size, "rank:0", options.seed)
                                       : read_placed<T>(comm, options.input, "rank:0");
  report.times()["read"] = seconds_since(start);
  auto& inputs = report.inputs();
  if (options.input.empty()) {
    inputs["seed"] = options.seed;
  } else {
    inputs["input"] = options.input;
  }
  inputs["rows"] = A.rows();
  inputs["columns"] = A.columns();
  inputs["scalar"] = options.scalar;
  inputs["block"] = options.block;
  const HostMatrixOf<T> before = on_the_host<T>(A.local());
  start = std::chrono::steady_clock::now();
  const exact::LuResult factors = exact::lu(comm.space(), A.local(), {.block = options.block});
  const double seconds = seconds_since(start);
  const HostMatrixOf<T> LU = on_the_host<T>(A.local());
  const std::size_t m = LU.extent(0);
  const std::size_t n = LU.extent(1);
  const std::size_t steps = std::min(m, n);

  // Row k of P A is row order[k] of A.
  std::vector<Index> order(m);
  std::iota(order.begin(), order.end(), Index{0});
  for (std::size_t k = 0; k < steps; ++k) std::swap(order[k], order[static_cast<std::size_t>(factors.pivots[k])]);
  Sha256 hash;
  hash.add(LU.data(), LU.size() * sizeof(T));
  hash.add(order.data(), order.size() * sizeof(Index));
  double most_of_u = 0;
  double norm = 0;
  for (std::size_t j = 0; j < n; ++j) {
    double column = 0;
    for (std::size_t i = 0; i < m; ++i) column += size_of(before(i, j));
    norm = std::max(norm, column);
    for (std::size_t i = 0; i <= std::min(j, m - 1) && m > 0; ++i) most_of_u = std::max(most_of_u, size_of(LU(i, j)));
  }
  const double most_of_a = largest<T>(before);
  auto& results = report.results();
  results["info"] = factors.info;
  results["growth"] = most_of_a == 0 ? 1.0 : most_of_u / most_of_a;
  if (m == n) results["condition"] = exact::condition(comm.space(), A.local(), factors, norm);
  results["sha256"] = hash.digest();
  results["seconds"] = seconds;
  context.say(format("lu: %lld x %lld, %s: info %lld, growth %.3g, %.4g s, sha256 %s", static_cast<long long>(m),
                     static_cast<long long>(n), options.scalar.c_str(), static_cast<long long>(factors.info),
                     results["growth"].get<double>(), seconds, results["sha256"].get<std::string>().c_str()));
  if (m == n && m > 0) context.say(format("condition %.3g", results["condition"].get<double>()));
  if (options.compare) {
    const HostMatrixOf<T> plain("heddle::driver::plain", m, n);
    Kokkos::deep_copy(plain, before);
    start = std::chrono::steady_clock::now();
    const std::vector<Index> pivots = plain_lu<T>(plain);
    const double plain_seconds = seconds_since(start);
    Index other_pivots = 0;
    for (std::size_t k = 0; k < steps; ++k) other_pivots += pivots[k] == factors.pivots[k] ? 0 : 1;
    double off = 0;
    Index different = 0;
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < m; ++i) {
        const double distance = size_of(T(plain(i, j) - LU(i, j)));
        different += plain(i, j) == LU(i, j) ? 0 : 1;
        if (distance != 0) off = std::max(off, distance / std::max(size_of(LU(i, j)), size_of(plain(i, j))));
      }
    }
    results["plain_seconds"] = plain_seconds;
    results["plain_different_elements"] = different;
    results["plain_different_pivots"] = other_pivots;
    results["plain_relative_difference"] = off;
    context.say(format("plain: %lld of %lld elements and %lld pivots differ, by up to %.3g of an element; %.4g s",
                       static_cast<long long>(different), static_cast<long long>(m * n),
                       static_cast<long long>(other_pivots), off, plain_seconds));
  }
  // A rounding of the sum, and one of the quotient.
  report.check_at_most("backward_error", backward_error<T>(before, LU, order), 4.0 * unit_roundoff<T>);
  const auto rows = static_cast<Index>(m);
  const auto columns = static_cast<Index>(n);
  const auto shared = static_cast<Index>(steps);
  write_host<T>(comm, options.l, rows, shared, [&](std::size_t i, std::size_t j) {
    return i > j ? LU(i, j) : i == j ? T(1) : T(0);
  });
  write_host<T>(comm, options.u, shared, columns,
                [&](std::size_t i, std::size_t j) { return i <= j ? LU(i, j) : T(0); });
  write_host<double>(comm, options.pivots, rows, 1,
                     [&](std::size_t i, std::size_t) { return static_cast<double>(order[i] + 1); });
  return context.finish(report);
}

int run(Context& context, Options options) {
  require(context.comm().size() == 1, "lu runs on one rank, and all threads or the GPU of it; there are ",
          context.comm().size());
  require_one_input(options.input, options.size);
  for (const std::string& path : {options.l, options.u, options.pivots}) require_writable_matrix(context, path);
  if (options.scalar.empty()) options.scalar = scalar_of_input(context, options.input);
  return with_scalar(options.scalar, [&]<class T>() { return run_as<T>(context, options); });
}

}  // namespace

void add_lu(CLI::App& app, Selection& selection) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("lu", "LU factorization with partial pivoting, the same bits everywhere");
  command.add_option("--input", options->input, "File of A (.mtx Matrix Market, .h5 HDF5 or .txt)")->type_name("FILE");
  command.add_option("--size", options->size, "Make a random matrix of this size")->type_name("N")->check(at_least(0));
  command.add_option("--seed", options->seed, "Seed of the random matrix")->type_name("N")->capture_default_str();
  add_scalar_option(command, options->scalar);
  command.add_option("--l", options->l, "File to write L to; the ending chooses the format")->type_name("FILE");
  command.add_option("--u", options->u, "File to write U to")->type_name("FILE");
  command
      .add_option("--pivots", options->pivots,
                  "File to write P to: one column, whose k-th number is the row of A that is row k of P A, from 1")
      ->type_name("FILE");
  command
      .add_option("--block", options->block, "Columns factored together; 1: unblocked, 0: chosen. No bit depends on it")
      ->type_name("N")
      ->check(at_least(0))
      ->capture_default_str();
  command.add_flag("--compare", options->compare, "Factor with plain sums too, and show what differs");
  add_common_options(command, selection.common,
                     "  heddle lu --input A.mtx --l L.mtx --u U.mtx --pivots P.mtx --compare");
  command.callback(
      [options, &selection] { selection.parallel = [options](Context& context) { return run(context, *options); }; });
}

}  // namespace heddle::driver
