// heddle lu: the LU factorization of a matrix from a file or generated: exact, emulated or native.
#include "drivers/commands.hpp"
#include "drivers/exact/sizes.hpp"
#include "drivers/gemm/trace.hpp"
#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/options/matrix_options.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/sha256.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/support/repeats.hpp"
#include <heddle/core/strided.hpp>
#include <heddle/exact/distributed.hpp>
#include <heddle/exact/lu.hpp>
#include <heddle/io/matrix_file.hpp>
#include <heddle/solve/solve.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heddle::driver {
namespace {

struct Options : MatrixSource {
  std::string l, u, pivots, trace;
  std::string arithmetic = "exact";
  int block = 0;
  Index group = 0;
  int grid_rows = 1;
  std::string place = "columns";
  bool compare = false;
};

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = after_matrix_source<Options>({
      {"--l", &Options::l, Text{}, "File to write L to; the ending chooses the format"},
      {"--u", &Options::u, Text{}, "File to write U to"},
      {"--pivots", &Options::pivots, Text{},
       "File to write P to: one column, whose k-th number is the row of A that is row k of P A, from 1"},
      {"--arithmetic", &Options::arithmetic, choice({"exact", "emulated", "native"}),
       "exact: each element from an exact sum; emulated: products by 8-bit integers; native: by the BLAS. The first "
       "two have the same bits on every machine"},
      {"--block", &Options::block, Integer{.least = 0},
       "Columns factored together; 0: chosen. Exact: 1 is unblocked, and no bit depends on it. Otherwise bits do"},
      {"--group", &Options::group, Integer{.least = 0},
       "Of emulated and native products: panels that are applied together, a power of two; 0: chosen. Bits depend on "
       "it"},
      {"--grid-rows", &Options::grid_rows, Integer{.least = 1},
       "Of emulated and native products: rows of the grid of ranks, a divisor of their number; native bits depend on "
       "it"},
      {"--place", &Options::place, Text{"WHERE"},
       "Of emulated and native products: placement of A: rows, columns, rank:R or cyclic:RxC[:PxQ]; in host memory "
       "with "
       "host: before it"},
      {"--compare", &Options::compare, Flag{}, "Factor with plain sums too, and show what differs"},
      {"--trace", &Options::trace, Text{.may_be_empty = false},
       "Of emulated and native products: write a timeline of panels, exchanges and updates for ui.perfetto.dev"},
  });
  return table;
}

// Return the power of two in the largest finite part of an element; 0 if no such part is other than zero.
template <Scalar T> int power_of(const HostMatrix<T>& A) {
  double most = 0;
  const auto take = [&](double part) { most = std::isfinite(part) ? std::max(most, std::abs(part)) : most; };
  for (std::size_t j = 0; j < A.extent(1); ++j) {
    for (std::size_t i = 0; i < A.extent(0); ++i) {
      if constexpr (is_complex<T>) {
        take(static_cast<double>(A(i, j).real()));
        take(static_cast<double>(A(i, j).imag()));
      } else {
        take(static_cast<double>(A(i, j)));
      }
    }
  }
  return most == 0 ? 0 : std::ilogb(most);
}
// Sizes of A and its factors.
struct Sizes {
  double norm = 0;  // |A|_1
  double of_a = 0;  // Largest element of A.
  double of_u = 0;
};
template <Scalar T> Sizes sizes_of(const HostMatrix<T>& A, const HostMatrix<T>& LU, int power) {
  Sizes sizes;
  for (std::size_t j = 0; j < A.extent(1); ++j) {
    double column = 0;
    for (std::size_t i = 0; i < A.extent(0); ++i) {
      const double size = size_of(A(i, j), power);
      column += size;
      sizes.of_a = larger(sizes.of_a, size);
      if (i <= j) sizes.of_u = larger(sizes.of_u, size_of(LU(i, j), power));
    }
    sizes.norm = larger(sizes.norm, column);
  }
  return sizes;
}
bool same(double x, double y) {
  return x == y || (std::isnan(x) && std::isnan(y));
}
// Compare two numbers; NaNs are equal to one another.
template <Scalar T> bool same_number(const T& x, const T& y) {
  if constexpr (is_complex<T>) {
    return same(static_cast<double>(x.real()), static_cast<double>(y.real())) &&
           same(static_cast<double>(x.imag()), static_cast<double>(y.imag()));
  } else {
    return same(static_cast<double>(x), static_cast<double>(y));
  }
}
// Return the difference of two numbers that are not the same, relative to the larger; infinite if only one is a number.
template <Scalar T> double relative_distance(const T& x, const T& y) {
  constexpr int down = 2;  // So that no difference overflows.
  const T quarter(Real<T>(0.25));
  const double most = std::max(size_of(x, down), size_of(y, down));
  const double distance = std::isfinite(most) ? size_of(T(x * quarter - y * quarter)) / most : INFINITY;
  return std::isnan(distance) ? INFINITY : distance;
}

// Return a quarter of |x| or of |real| + |imaginary|; a NaN is below all.
template <Scalar T> double pivot_size(const T& x) {
  double size = 0;
  if constexpr (is_complex<T>) {
    size = std::abs(static_cast<double>(x.real())) / 4 + std::abs(static_cast<double>(x.imag())) / 4;
  } else {
    size = std::abs(static_cast<double>(x)) / 4;
  }
  return std::isnan(size) ? -1 : size;
}
// Factor by the same algorithm with plain sums.
template <Scalar T> std::vector<Index> plain_lu(const HostMatrix<T>& A) {
  const std::size_t m = A.extent(0);
  const std::size_t n = A.extent(1);
  std::vector<Index> pivots;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < std::min(j, m); ++k) {
      for (std::size_t i = k + 1; i < m; ++i) A(i, j) -= A(i, k) * A(k, j);
    }
    if (j >= m) continue;
    std::size_t pivot = j;
    for (std::size_t i = j + 1; i < m; ++i) pivot = pivot_size(A(i, j)) > pivot_size(A(pivot, j)) ? i : pivot;
    pivots.push_back(static_cast<Index>(pivot));
    for (std::size_t k = 0; k < n && pivot != j; ++k) std::swap(A(j, k), A(pivot, k));
    for (std::size_t i = j + 1; i < m && A(j, j) != T(0); ++i) A(i, j) = A(i, j) / A(j, j);
  }
  return pivots;
}

// Write the matrix whose elements are element(i, j) on rank 0.
template <Scalar T, class Element>
void write_host(const Communicator& comm, const std::string& path, Index rows, Index columns, const Element& element) {
  if (path.empty()) return;
  const DistributedMatrix<T> A(comm, placement_from("rank:0", rows, columns, comm.size()));
  const HostMatrix<T> host("heddle::driver::host", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  for (Index j = 0; j < columns && comm.rank() == 0; ++j) {
    for (Index i = 0; i < rows; ++i) host(i, j) = element(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
  }
  scatter(host, 0, A);
  write_result(path, A);
}

// Return max |P A - L U| / (|L| |U|), element by element, of products rounded once. The error that the roundings of
// denormal numbers may add is subtracted: less than the smallest number for an element of U, and 1 + |u_jj| times that
// for one of L. `power` is A's: the products are scaled so that they neither over- nor underflow.
template <Scalar T>
double backward_error(const HostMatrix<T>& A, const HostMatrix<T>& LU, const std::vector<Index>& order, int power) {
  const std::size_t m = A.extent(0);
  const std::size_t n = A.extent(1);
  const std::size_t steps = std::min(m, n);
  const LocalMatrix<T> L("heddle::driver::L", m, steps);
  const LocalMatrix<T> U("heddle::driver::U", steps, n);
  const LocalMatrix<T> R("heddle::driver::R", m, n);
  const LocalMatrix<Real<T>> L_sizes("heddle::driver::L_sizes", m, steps);
  const LocalMatrix<Real<T>> U_sizes("heddle::driver::U_sizes", steps, n);
  const LocalMatrix<Real<T>> bound("heddle::driver::bound", m, n);
  const auto fill = [](const auto& target, const auto& element) {
    const auto host = Kokkos::create_mirror_view(target);
    for (std::size_t j = 0; j < host.extent(1); ++j) {
      for (std::size_t i = 0; i < host.extent(0); ++i) host(i, j) = element(i, j);
    }
    Kokkos::deep_copy(flat(target), flat(host));
  };
  constexpr int most_power = std::numeric_limits<Real<T>>::max_exponent - 24;
  const int by = std::clamp(-power, -most_power, most_power);
  // Sizes of complex numbers may exceed the largest number.
  constexpr int down = 2;
  const auto factor = static_cast<Real<T>>(std::ldexp(1.0, by));
  const auto l = [&](std::size_t i, std::size_t j) { return i > j ? LU(i, j) : i == j ? T(1) : T(0); };
  const auto u = [&](std::size_t i, std::size_t j) { return i <= j ? LU(i, j) : T(0); };
  fill(L, l);
  fill(U, u);
  fill(R, [&](std::size_t i, std::size_t j) { return A(static_cast<std::size_t>(order[i]), j); });
  fill(L_sizes, [&](std::size_t i, std::size_t j) { return static_cast<Real<T>>(size_of(l(i, j))); });
  // Small numbers are not scaled down, so that they keep all their digits.
  const int kept = by < 0 ? down : 0;
  fill(U_sizes, [&](std::size_t i, std::size_t j) { return static_cast<Real<T>>(size_of(u(i, j), kept)); });
  exact::gemm(ExecutionSpace(), Operation::none, Operation::none, T(-factor), L, U, T(factor), R);
  exact::gemm(ExecutionSpace(), Operation::none, Operation::none, static_cast<Real<T>>(std::ldexp(1.0, by + kept)),
              L_sizes, U_sizes, Real<T>(0), bound);
  const auto rest = Kokkos::create_mirror_view(R);
  Kokkos::deep_copy(flat(rest), flat(R));
  const auto most = Kokkos::create_mirror_view(bound);
  Kokkos::deep_copy(flat(most), flat(bound));
  const double smallest = std::ldexp(static_cast<double>(std::numeric_limits<Real<T>>::denorm_min()), by);
  double worst = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const double diagonal = j < steps ? size_of(LU(j, j)) : 0;
    for (std::size_t i = 0; i < m; ++i) {
      const double found = size_of(rest(i, j));
      const double off = found - smallest * (i > j ? 1 + diagonal : 1);
      if (!(off <= 0)) worst = std::fmax(worst, std::isnan(off) ? INFINITY : off / static_cast<double>(most(i, j)));
    }
  }
  return worst;
}

// Factor with plain sums and report the differences.
template <Scalar T>
void compare(Context& context, nlohmann::ordered_json& results, const HostMatrix<T>& A, const HostMatrix<T>& LU,
             const std::vector<Index>& pivots) {
  const HostMatrix<T> plain("heddle::driver::plain", A.extent(0), A.extent(1));
  Kokkos::deep_copy(flat(plain), flat(A));
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Index> plain_pivots = plain_lu<T>(plain);
  const double seconds = seconds_since(start);
  Index other_pivots = 0;
  for (std::size_t k = 0; k < pivots.size(); ++k) other_pivots += plain_pivots[k] == pivots[k] ? 0 : 1;
  double off = 0;
  Index different = 0;
  for (std::size_t j = 0; j < A.extent(1); ++j) {
    for (std::size_t i = 0; i < A.extent(0); ++i) {
      if (same_number(plain(i, j), LU(i, j))) continue;
      ++different;
      off = std::max(off, relative_distance(plain(i, j), LU(i, j)));
    }
  }
  results["plain_seconds"] = seconds;
  results["plain_different_elements"] = different;
  results["plain_different_pivots"] = other_pivots;
  results["plain_relative_difference"] = off;
  context.say(format("plain: %lld of %lld elements and %lld pivots differ, by up to %.3g of an element; %.4g s",
                     static_cast<long long>(different), static_cast<long long>(A.size()),
                     static_cast<long long>(other_pivots), off, seconds));
}

// The result of a factorization in any arithmetic; whole matrices are on rank 0.
template <Scalar T> struct Factored {
  HostMatrix<T> A, LU;
  std::vector<Index> pivots;
  Index info = 0;
  double seconds = 0;
  double condition = 0;  // Of square matrices only.
  int power = 0;         // A's largest element is about 2^power.
  FactorizationReport over_ranks;
};

template <Scalar T> Factored<T> factored_exactly(const Communicator& comm, const DistributedMatrix<T>& A, int block) {
  Factored<T> found;
  found.A = gather(A, 0);
  exact::LuResult factors;
  const auto factorize = [&] {
    scatter(found.A, 0, A);
    return seconds_of_run(comm, [&] { factors = exact::lu(comm, A, {.block = block}); });
  };
  repeat_warm(1, factorize, [&](double seconds) { found.seconds = seconds; });
  found.LU = gather(A, 0);
  found.pivots = factors.pivots;
  found.info = factors.info;
  DistributedMatrix<T> whole = A;
  if (comm.size() > 1) {
    whole = DistributedMatrix<T>(comm, Placement::on_rank(A.rows(), A.columns(), 0), "LU");
    redistribute(A, whole);
  }
  comm.on_rank(0, [&] {
    found.power = power_of<T>(found.A);
    if (A.rows() != A.columns()) return;
    const double norm_of_a = sizes_of<T>(found.A, found.LU, found.power).norm;
    found.condition = exact::condition(comm.space(), whole.local(), factors, norm_of_a, found.power);
  });
  comm.broadcast(std::span<double>(&found.condition, 1), 0);
  return found;
}

template <Scalar T>
Factored<T> factored_over_ranks(const Communicator& comm, const DistributedMatrix<T>& A,
                                const heddle::FactorOptions& options) {
  Factored<T> found;
  found.A = gather(A, 0);
  comm.on_rank(0, [&] { found.power = power_of<T>(found.A); });
  const double norm_of_a = norm(A, Norm::one);
  LuReport factors;
  const auto factorize = [&] {
    scatter(found.A, 0, A);
    return heddle::lu(comm, A, options);
  };
  repeat_warm(1, factorize, [&](const LuReport& counted) { factors = counted; });
  found.over_ranks = factors;
  found.seconds = factors.seconds;
  found.LU = gather(A, 0);
  found.pivots = factors.pivots;
  found.info = factors.info;
  if (A.rows() == A.columns()) {
    heddle::FactorOptions of_systems = options;
    of_systems.record_timeline = false;
    found.condition = heddle::condition(comm, A, factors, norm_of_a, of_systems);
  }
  return found;
}

// Results that rank 0, which has the whole matrices, computes and broadcasts.
struct Verdict {
  double growth = 1.0;
  double backward_error = 0.0;
};

template <Scalar T> int run_as(Context& context, const Options& options) {
  const Communicator& comm = context.comm();
  const bool exactly = options.arithmetic == "exact";
  auto report = context.report("lu");
  const auto start = std::chrono::steady_clock::now();
  const auto A = options.input.empty() ? random_matrix<T>(comm, options.size, options.size, options.place, options.seed)
                                       : read_placed<T>(comm, options.input, options.place);
  report.times()["read"] = seconds_since(start);
  auto& inputs = report.inputs();
  all_options().enter(options, inputs);
  inputs["rows"] = A.rows();
  inputs["columns"] = A.columns();
  const Arithmetic products = options.arithmetic == "native" ? Arithmetic::native : Arithmetic::emulated;
  Progress progress = context.progress("lu");
  const Factored<T> factors =
      exactly ? factored_exactly<T>(comm, A, options.block)
              : factored_over_ranks<T>(comm, A,
                                       {.arithmetic = products,
                                        .block = options.block,
                                        .group = options.group,
                                        .grid_rows = options.grid_rows,
                                        .record_timeline = !options.trace.empty(),
                                        .progress = [&](double share_done) { progress.update(share_done); }});
  progress.finish();
  const HostMatrix<T>& LU = factors.LU;
  const auto m = static_cast<std::size_t>(A.rows());
  const auto n = static_cast<std::size_t>(A.columns());
  const std::size_t steps = std::min(m, n);

  // Row k of P A is row order[k] of A.
  std::vector<Index> order(m);
  std::iota(order.begin(), order.end(), Index{0});
  for (std::size_t k = 0; k < steps; ++k) std::swap(order[k], order[static_cast<std::size_t>(factors.pivots[k])]);
  std::string digest;
  Verdict verdict;
  comm.on_rank(0, [&] {
    Sha256 hash;
    hash.add_numbers(LU.data(), LU.size());
    hash.add_numbers(order.data(), order.size());
    digest = hash.digest();
    const Sizes sizes = sizes_of<T>(factors.A, LU, factors.power);
    verdict.growth = sizes.of_a == 0 ? 1.0 : sizes.of_u / sizes.of_a;
    verdict.backward_error = backward_error<T>(factors.A, LU, order, factors.power);
  });
  comm.broadcast(digest, 0);
  comm.broadcast(std::span<double>(&verdict.growth, 1), 0);
  comm.broadcast(std::span<double>(&verdict.backward_error, 1), 0);
  auto& results = report.results();
  results["info"] = factors.info;
  results["arithmetic"] = options.arithmetic;
  results["growth"] = verdict.growth;
  if (m == n) results["condition"] = factors.condition;
  results["sha256"] = digest;
  results["seconds"] = factors.seconds;
  if (!exactly) {
    results["gflops"] = factors.over_ranks.gflops;
    results["memory_bytes"] = factors.over_ranks.memory_bytes;
    if (!options.trace.empty()) keep_factorization_trace(comm, options.trace, "lu", factors.over_ranks, inputs);
  }
  context.say(format("lu: %lld x %lld, %s, %s: info %lld, growth %.3g, %.4g s, sha256 %s", static_cast<long long>(m),
                     static_cast<long long>(n), options.scalar.c_str(), options.arithmetic.c_str(),
                     static_cast<long long>(factors.info), verdict.growth, factors.seconds, digest.c_str()));
  if (m == n && m > 0) context.say(format("condition %.3g", factors.condition));
  if (options.compare) {
    comm.on_rank(0, [&] { compare<T>(context, results, factors.A, LU, factors.pivots); });
  }
  // Exact arithmetic rounds the sum and the quotient. Otherwise each column adds a rounding (N. Higham, Accuracy and
  // Stability, 2002, theorem 9.3), three for complex numbers.
  const double roundings = exactly ? 4.0 : static_cast<double>(steps + 4) * (is_complex<T> ? 3.0 : 1.0);
  report.check_at_most("backward_error", verdict.backward_error, roundings * unit_roundoff<T>);
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
  require(options.arithmetic != "exact" || options.group == 0, "lu: --group is of --arithmetic emulated and native");
  require(options.arithmetic != "exact" || options.grid_rows == 1,
          "lu: --grid-rows is of --arithmetic emulated and native");
  require(options.arithmetic != "exact" || options.place == Options().place,
          "lu: --place is of --arithmetic emulated and native");
  require(options.arithmetic != "exact" || options.trace.empty(), "lu: --trace is of --arithmetic emulated and native");
  require_one_input(options.input, options.size);
  require_outputs(context, {{"--input", options.input}},
                  {{"--l", options.l}, {"--u", options.u}, {"--pivots", options.pivots}}, {"--trace", options.trace});
  if (options.scalar.empty()) options.scalar = scalar_of_input(context, options.input);
  return with_scalar(options.scalar, [&]<class T>() { return run_as<T>(context, options); });
}

}  // namespace

void add_lu(CLI::App& app, Selection& selection) {
  add_command(app, selection,
              {"lu", "LU factorization with partial pivoting, the same bits everywhere",
               "  heddle lu --input A.mtx --l L.mtx --u U.mtx --pivots P.mtx --compare\n"
               "  mpirun -n 2 heddle lu --size 500 --arithmetic emulated"},
              all_options(), run);
}

}  // namespace heddle::driver
