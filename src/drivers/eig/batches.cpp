// heddle eig --batch and --svd: many matrices at once, on one rank.
#include "drivers/eig/batches.hpp"

#include "drivers/eig/matrices.hpp"
#include "drivers/eig/outputs.hpp"
#include "drivers/eig/spectrum.hpp"
#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/options/option_kinds.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/support/repeats.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/eigen/batched.hpp>
#include <heddle/eigen/svd.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::driver {
namespace {

template <class T> using Batch = Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace>;
template <class R> using Values = Kokkos::View<R**, Kokkos::LayoutLeft, MemorySpace>;

template <class View> auto one_of(const View& batch, Index b) {
  return Kokkos::subview(batch, Kokkos::ALL, Kokkos::ALL, static_cast<std::size_t>(b));
}
// Return the matrices side by side on the host.
template <Scalar T> HostMatrix<T> side_by_side(const Batch<T>& batch) {
  const HostMatrix<T> host("heddle::driver::host", batch.extent(0), batch.extent(1) * batch.extent(2));
  const Kokkos::View<T***, Kokkos::LayoutLeft, Kokkos::HostSpace> as_batch(host.data(), batch.extent(0),
                                                                           batch.extent(1), batch.extent(2));
  Kokkos::deep_copy(as_batch, batch);
  return host;
}
template <Scalar T> HostMatrix<T> columns_of(const HostMatrix<T>& all, Index first, Index count) {
  const HostMatrix<T> part("heddle::driver::host", all.extent(0), static_cast<std::size_t>(count));
  std::copy_n(all.data() + first * static_cast<Index>(all.extent(0)), part.size(), part.data());
  return part;
}

// Return the matrices side by side; set the number of columns of one of them.
template <Scalar T> HostMatrix<T> given(Context& context, const BatchRequest& request, Index& columns) {
  const BatchSettings& settings = request.settings;
  const Index count = std::max<Index>(settings.count, 1);
  if (!request.input.empty()) {
    HostMatrix<T> all = gather(read_placed<T>(context.comm(), request.input, "rank:0"), 0);
    const auto width = static_cast<Index>(all.extent(1));
    if (width % count != 0) {
      throw Error(ErrorKind::input, message_of(request.input, ": has ", width, " columns; --batch ", count,
                                               " takes as many matrices beside one another"));
    }
    columns = width / count;
    return all;
  }
  columns = request.size;
  const Index rows = settings.rows >= 0 ? settings.rows : request.size;
  HostMatrix<T> all("heddle::driver::host", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns * count));
  const RandomElement<T> element{request.seed};
  for (Index j = 0; j < columns * count; ++j) {
    for (Index i = 0; i < rows; ++i) all(i, j) = element(i, j);
  }
  return all;
}

// Every matrix Hermitian to the bit.
template <Scalar T> void make_hermitian(const BatchRequest& request, const HostMatrix<T>& all, Index n) {
  const double usual = std::is_same_v<Real<T>, float> ? 1e-5 : 1e-12;
  for (Index first = 0; first < static_cast<Index>(all.extent(1)); first += n) {
    const HostMatrix<T> A = columns_of<T>(all, first, n);
    if (!request.input.empty()) {
      require_hermitian<T>(message_of(request.input, ", matrix ", first / n + 1), A,
                           request.symmetry < 0 ? usual : request.symmetry);
    }
    mirror<T>(A, request.solver.upper);
    std::copy_n(A.data(), A.size(), all.data() + first * n);
  }
}

// Return |X - Y diag(d)|_F, computed on the host; X is in the library's memory space. Without d: |X - I|_F.
template <Scalar T> double distance(const MatrixView<T>& X, const HostMatrix<T>& Y, const std::vector<double>& d) {
  const HostMatrix<T> host("heddle::driver::host", X.extent(0), X.extent(1));
  const LocalMatrix<T> packed("heddle::driver::packed", X.extent(0), X.extent(1));
  Kokkos::deep_copy(packed, X);
  Kokkos::deep_copy(host, packed);
  long double sum = 0;
  for (std::size_t j = 0; j < host.extent(1); ++j) {
    for (std::size_t i = 0; i < host.extent(0); ++i) {
      const long double by = d.empty() ? 1.0L : static_cast<long double>(d[j]);
      const auto re = d.empty() ? static_cast<long double>(i == j) : by * real_of<double>(Y(i, j));
      const auto im = d.empty() ? 0.0L : by * imaginary_of<double>(Y(i, j));
      const long double x = real_of<double>(host(i, j)) - re;
      const long double y = imaginary_of<double>(host(i, j)) - im;
      sum += x * x + y * y;
    }
  }
  return static_cast<double>(std::sqrt(sum));
}

struct Errors {
  double residual = 0;
  double orthogonality = 0;
  double frobenius = 0;
  double trace = 0;
  void take(const Errors& other) {
    residual = std::fmax(residual, other.residual);
    orthogonality = std::fmax(orthogonality, other.orthogonality);
    frobenius = std::fmax(frobenius, other.frobenius);
    trace = std::fmax(trace, other.trace);
  }
};

struct Outcome {
  Index not_converged = 0;
  Index first_failed = -1;
  int sweeps = 0;
  Index rotations = 0;
  double seconds = 0;
  std::vector<std::vector<double>> values;
  Errors errors;  // Largest errors of all matrices.
};
template <class Report> void enter(Outcome& outcome, const Report& report, double seconds) {
  outcome.not_converged = report.not_converged;
  outcome.first_failed = report.first_failed;
  outcome.sweeps = report.sweeps;
  outcome.rotations = report.rotations;
  outcome.seconds = seconds;
}
template <class R> std::vector<std::vector<double>> lists_of(const Values<R>& values) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
  std::vector<std::vector<double>> lists(host.extent(1));
  for (std::size_t b = 0; b < lists.size(); ++b) {
    for (std::size_t i = 0; i < host.extent(0); ++i) lists[b].push_back(static_cast<double>(host(i, b)));
  }
  return lists;
}

template <Scalar T>
Outcome eigensystems(Context& context, const BatchRequest& request, const HostMatrix<T>& all, const Batch<T>& A) {
  const ExecutionSpace& space = context.comm().space();
  const auto n = A.extent(0);
  const std::size_t kept = request.values_only ? 0 : n;
  const Values<Real<T>> w("heddle::driver::w", n, A.extent(2));
  const Batch<T> V("heddle::driver::V", kept, kept, A.extent(2));
  const eigen::JacobiBatchedOptions options{.accuracy = request.solver.accuracy,
                                            .upper = request.solver.upper,
                                            .tolerance = request.solver.tolerance,
                                            .sweeps = request.solver.sweeps,
                                            .reproducible = request.solver.reproducible};
  Outcome outcome;
  eigen::JacobiBatchedReport report;
  const auto solve = [&] {
    report = request.values_only ? eigen::jacobi_batched_values(space, A, w, options)
                                 : eigen::jacobi_batched(space, A, w, V, options);
  };
  enter(outcome, report, seconds_of_runs(context.comm(), 1, solve).front());
  outcome.values = lists_of<Real<T>>(w);
  if (!report.converged()) return outcome;
  const auto columns = static_cast<Index>(n);
  for (std::size_t b = 0; b < A.extent(2); ++b) {
    Errors errors;
    if (!request.values_only) {
      const LocalMatrix<T> matrix = one_of(A, b);
      const LocalMatrix<T> vectors = one_of(V, b);
      const EigenErrors found =
          errors_of<T>(space, matrix, Kokkos::View<Real<T>*, MemorySpace>(Kokkos::subview(w, Kokkos::ALL, b)), vectors);
      errors.residual = found.residual;
      errors.orthogonality = found.orthogonality;
    }
    const SpectrumErrors sums =
        spectrum_errors<T>(columns_of<T>(all, static_cast<Index>(b) * columns, columns), outcome.values[b], false);
    errors.trace = sums.trace.value;
    errors.frobenius = sums.frobenius.value;
    outcome.errors.take(errors);
  }
  write_dense<T>(context.comm(), request.vectors, columns, columns * static_cast<Index>(A.extent(2)),
                 request.vectors.empty() ? HostMatrix<T>() : side_by_side<T>(V));
  return outcome;
}

// Errors of A V = U diag(s), or of A^H U = V diag(s) if A has more columns than rows, and of both sets of vectors.
template <Scalar T>
Errors singular_errors(const ExecutionSpace& space, const LocalMatrix<T>& A, const std::vector<double>& s,
                       const LocalMatrix<T>& U, const LocalMatrix<T>& V) {
  const blas::Context context(space);
  const bool wide = A.extent(0) < A.extent(1);
  const LocalMatrix<T>& longer = wide ? V : U;
  const LocalMatrix<T>& shorter = wide ? U : V;
  const double unit = static_cast<double>(std::max(A.extent(0), A.extent(1))) * static_cast<double>(unit_roundoff<T>);
  const auto on_host = [](const LocalMatrix<T>& X) {
    const HostMatrix<T> host("heddle::driver::host", X.extent(0), X.extent(1));
    Kokkos::deep_copy(host, X);
    return host;
  };
  Errors errors;
  if (s.empty()) return errors;
  const Levelled<T> level = levelled<T>(space, A);
  std::vector<double> values;
  double norm = 0;
  for (const double one : s) {
    values.push_back(std::ldexp(one, -level.exponent));
    norm = std::hypot(norm, values.back());
  }
  const double storage = std::sqrt(static_cast<double>(s.size())) * storage_error<Real<T>>(level.exponent);
  for (const LocalMatrix<T>* const Q : {&longer, &shorter}) {
    const LocalMatrix<T> gram("heddle::driver::gram", s.size(), s.size());
    blas::gemm<T>(context, Operation::conjugate_transpose, Operation::none, T(1), *Q, *Q, T(0), gram);
    errors.orthogonality =
        std::fmax(errors.orthogonality, distance<T>(gram, {}, {}) / (unit * std::sqrt(static_cast<double>(s.size()))));
  }
  const double norm_of_A = distance<T>(level.matrix, on_host(level.matrix), std::vector<double>(A.extent(1), 0.0));
  const LocalMatrix<T> R("heddle::driver::residual", longer.extent(0), s.size());
  blas::gemm<T>(context, wide ? Operation::conjugate_transpose : Operation::none, Operation::none, T(1), level.matrix,
                shorter, T(0), R);
  const double residual = beyond_storage(distance<T>(R, on_host(longer), values), storage);
  errors.residual = norm_of_A > 0 ? residual / (unit * norm_of_A) : residual;
  errors.frobenius = norm_of_A > 0 ? beyond_storage(std::abs(norm - norm_of_A), storage) / (unit * norm_of_A) : norm;
  return errors;
}

template <Scalar T> Outcome singular_values(Context& context, const BatchRequest& request, const Batch<T>& A) {
  const ExecutionSpace& space = context.comm().space();
  const std::size_t k = std::min(A.extent(0), A.extent(1));
  const std::size_t kept = request.values_only ? 0 : k;
  const Values<Real<T>> s("heddle::driver::s", k, A.extent(2));
  const Batch<T> U("heddle::driver::U", A.extent(0), kept, A.extent(2));
  const Batch<T> V("heddle::driver::V", A.extent(1), kept, A.extent(2));
  const eigen::SvdBatchedOptions options{.tolerance = request.solver.tolerance, .sweeps = request.solver.sweeps};
  Outcome outcome;
  eigen::SvdBatchedReport report;
  const auto solve = [&] {
    report = request.values_only ? eigen::svd_batched_values(space, A, s, options)
                                 : eigen::svd_batched(space, A, s, U, V, options);
  };
  enter(outcome, report, seconds_of_runs(context.comm(), 1, solve).front());
  outcome.values = lists_of<Real<T>>(s);
  if (!report.converged()) return outcome;
  for (std::size_t b = 0; !request.values_only && b < A.extent(2); ++b) {
    outcome.errors.take(singular_errors<T>(space, one_of(A, b), outcome.values[b], one_of(U, b), one_of(V, b)));
  }
  const auto write = [&](const std::string& path, const Batch<T>& vectors) {
    if (path.empty()) return;
    write_dense<T>(context.comm(), path, static_cast<Index>(vectors.extent(0)),
                   static_cast<Index>(vectors.extent(1) * vectors.extent(2)), side_by_side<T>(vectors));
  };
  write(request.vectors, V);
  write(request.settings.left, U);
  return outcome;
}

template <Scalar T> int solve_as(Context& context, const BatchRequest& request) {
  const bool svd = request.settings.svd;
  auto report = context.report("eig");
  Index n = 0;
  const HostMatrix<T> all = given<T>(context, request, n);
  const Index count = std::max<Index>(request.settings.count, 1);
  if (!svd) make_hermitian<T>(request, all, n);
  const Batch<T> A("heddle::driver::A", all.extent(0), static_cast<std::size_t>(n), static_cast<std::size_t>(count));
  Kokkos::deep_copy(A, Kokkos::View<const T***, Kokkos::LayoutLeft, Kokkos::HostSpace>(all.data(), A.extent(0),
                                                                                       A.extent(1), A.extent(2)));
  const Outcome outcome = svd ? singular_values<T>(context, request, A) : eigensystems<T>(context, request, all, A);
  report.inputs() = request.inputs;
  report.inputs()["size"] = n;
  auto& results = report.results();
  results["rows"] = A.extent(0);
  results["columns"] = n;
  results["matrices"] = count;
  results["not_converged"] = outcome.not_converged;
  results["sweeps"] = outcome.sweeps;
  results["rotations"] = outcome.rotations;
  results["seconds"] = outcome.seconds;
  results[svd ? "singular_values" : "eigenvalues"] = outcome.values;
  context.say(format("eig: %lld matrices of %lld x %lld, %s: %.4g s, %.4g a second, at most %d sweeps",
                     static_cast<long long>(count), static_cast<long long>(A.extent(0)), static_cast<long long>(n),
                     request.scalar.c_str(), outcome.seconds, static_cast<double>(count) / outcome.seconds,
                     outcome.sweeps));
  if (outcome.not_converged > 0) {
    const int code = context.finish(report);
    complain(
        format("%lld of %lld matrices did not converge, the first of them number %lld; --sweeps allows more, and "
               "NaN or infinity have no solution",
               static_cast<long long>(outcome.not_converged), static_cast<long long>(count),
               static_cast<long long>(outcome.first_failed + 1)));
    return std::max<int>(code, exit_failed);
  }
  std::vector<double> values;
  for (const auto& list : outcome.values) values.insert(values.end(), list.begin(), list.end());
  write_values(context.comm(), request.values, values);
  const double factor = std::max(1.0, request.solver.tolerance / static_cast<double>(unit_roundoff<T>));
  if (!request.values_only) {
    report.check_at_most("residual", outcome.errors.residual, 10 * factor);
    report.check_at_most("orthogonality", outcome.errors.orthogonality, 10 * factor);
  }
  if (!svd) report.check_at_most("trace", outcome.errors.trace, 10 * factor);
  if (!svd || !request.values_only) report.check_at_most("frobenius_norm", outcome.errors.frobenius, 10 * factor);
  return context.finish(report);
}

}  // namespace

OptionTable<BatchSettings> batch_options() {
  const auto svd = [](const BatchSettings& settings) { return settings.svd; };
  return {
      {"--batch", &BatchSettings::count, Integer{.least = 1},
       "Solve N matrices at once: of --input, which has them beside one another, or of --generate random"},
      {"--svd", &BatchSettings::svd, Flag{},
       "Singular values and vectors A = U diag(s) V^H of matrices of any shape; --vectors writes V"},
      {"--rows",
       &BatchSettings::rows,
       Integer{.least = 0},
       "With --svd: rows of a random matrix (default: as --size)",
       {},
       svd},
      {"--left", &BatchSettings::left, Text{}, "With --svd: file to write U to", {}, svd},
  };
}

int solve_batches(Context& context, const BatchRequest& request) {
  const BatchSettings& settings = request.settings;
  const int ranks = context.comm().size();
  const char* const what = settings.svd ? "--svd" : "--batch";
  require(ranks == 1, what, " runs on one rank, and all threads or the GPU of it; there are ", ranks);
  require(request.generate.empty() || request.generate == "random", what,
          ": makes matrices by --generate random alone");
  require(request.generate.empty() || request.size >= 0, "--generate needs the order of the matrices: --size");
  require(settings.svd || settings.rows < 0, "--rows is for --svd");
  require(settings.svd || settings.left.empty(), "--left is for --svd");
  require(request.solver.method == eigen::JacobiMethod::automatic && request.solver.rotations == 0 &&
              request.solver.block == 0 && !request.solver.lower_precision,
          what, " has one method; --method, --rotations, --block and --lower-precision are for one matrix");
  require(!request.values_only || (request.vectors.empty() && settings.left.empty()),
          "--values-only leaves no --vectors or --left to write");
  require_outputs(context, {{"--input", request.input}},
                  {{"--vectors", request.vectors}, {"--values", request.values}, {"--left", settings.left}});
  for (const std::string& path : {request.vectors, settings.left}) {
    require(!path.ends_with(".txt"), path, ": plain text holds square matrices; choose .mtx, .npy or .h5");
  }
  return with_scalar(request.scalar, [&]<class T>() { return solve_as<T>(context, request); });
}

}  // namespace heddle::driver
