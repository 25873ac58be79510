// The dense Hermitian eigenproblem: choice of method and accuracy, first vectors, and the one-sided iterations.
#include "blas/decompositions.hpp"
#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "dist/copies.hpp"
#include "eigen/dense/columns.hpp"
#include "eigen/dense/copies.hpp"
#include "eigen/dense/orthonormal.hpp"
#include "eigen/dense/power_method.hpp"
#include "eigen/dense/results.hpp"
#include "eigen/dense/scaling.hpp"
#include "eigen/dense/solve.hpp"
#include "eigen/dense/two_sided.hpp"
#include "eigen/pencils/cholesky.hpp"
#include "eigen/pencils/graded.hpp"
#include <heddle/eigen/batched.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <type_traits>

namespace heddle::eigen::impl {
namespace {

using compiled::jacobi_batched;
using heddle::impl::copy_matrix;
using heddle::impl::for_each_element;

// Orthonormal eigenvectors to begin at, and properties of the eigenvalues if the library found both.
template <Scalar T> struct First {
  std::optional<Dense<T>> vectors;  // None where they are of no use.
  double norm = 0;                  // |S|_2; 0: not known.
  bool indefinite = false;          // Whether an eigenvalue is surely negative.
};

// The library's eigenvectors of S in scalar L, in place, and the properties that follow from its eigenvalues.
template <Scalar L, Scalar T>
void by_library(const Scratch& scratch, const blas::Context& context, const Dense<L>& S, First<T>& first) {
  const Values<Real<L>> values = scratch.values<Real<L>>("heddle::eigen::first_values", S.extent(0));
  heddle::impl::backend_eigenvectors<L>(context, S, values);
  const std::vector<Real<L>> found = to_host(context.space(), "heddle::eigen::first_values", values);
  const auto least = static_cast<double>(found.front());
  first.norm = std::max(std::abs(least), std::abs(static_cast<double>(found.back())));
  // The library's eigenvalues are off by some n u |S|.
  first.indefinite = least < -16 * static_cast<double>(found.size()) * unit_roundoff<L> * first.norm;
}

// Eigenvectors of S by the library, or those of the caller.
template <Scalar T>
First<T> first_vectors(const Scratch& scratch, const blas::Context& context, const Dense<T>& S,
                       const StridedMatrix<T>* V, const JacobiOptions& options) {
  const ExecutionSpace& space = scratch.space();
  const auto n = static_cast<Index>(S.extent(0));
  First<T> first;
  Dense<T> Q = dense<T>(scratch, "heddle::eigen::first_vectors", n, n);
  if (options.warm_start) {
    const StridedMatrix<T> given = *V;
    for_each_element(
        space, "heddle::eigen::first_vectors", n, n, KOKKOS_LAMBDA(Index i, Index j) { Q(i, j) = given(i, j); });
  } else {
    try {
      if (options.lower_precision && !std::is_same_v<T, Lower<T>>) {
        const Dense<Lower<T>> low = dense<Lower<T>>(scratch, "heddle::eigen::lower_vectors", n, n);
        for_each_element(
            space, "heddle::eigen::lower_vectors", n, n,
            KOKKOS_LAMBDA(Index i, Index j) { low(i, j) = static_cast<Lower<T>>(S(i, j)); });
        by_library<Lower<T>>(scratch, context, low, first);
        for_each_element(
            space, "heddle::eigen::first_vectors", n, n,
            KOKKOS_LAMBDA(Index i, Index j) { Q(i, j) = static_cast<T>(low(i, j)); });
      } else {
        Kokkos::deep_copy(space, Q, S);
        by_library<T>(scratch, context, Q, first);
      }
    } catch (const Error& error) {
      // Divide and conquer may not converge for what is graded to denormal numbers; rotations do without it.
      if (error.kind() != ErrorKind::computation) throw;
      return {};
    }
  }
  if (orthonormalise<T>(scratch, context, Q)) first.vectors = Q;
  return first;
}

// Sweeps until the columns are orthogonal. With a context, columns that may be orthogonal already are looked at first.
template <Scalar T>
void orthogonalise(const Scratch& scratch, BlockColumns<T>& B, Index n, const JacobiOptions& options,
                   const std::optional<blas::Context>& context, JacobiReport& report) {
  using R = Real<T>;
  const R tolerance = criterion_for<T>(options.tolerance, n).tolerance;
  if (context && !heddle::impl::on_host) {
    report.off_norms.push_back(largest_cosine<T>(scratch, *context, B.columns()));
    ++report.sweeps;
    if (!(report.off_norm() > tolerance)) {
      report.converged = true;
      report.end = JacobiEnd::diagonal;
      return;
    }
  }
  sweep_until_orthogonal<T>(B, tolerance, n, options, report);
}

// The handles that are kept, or new ones.
blas::Context context_of(const ExecutionSpace& space, const blas::Context* kept) {
  return kept != nullptr ? *kept : blas::Context(space);
}

// Solve a positive definite S = L L^H by the singular vectors of L, whose columns become orthogonal.
template <Scalar T>
std::optional<Solved<T>> relative(const Scratch& scratch, const std::optional<blas::Context>& context,
                                  const Dense<T>& S, const First<T>& first, bool vectors, const JacobiOptions& options,
                                  JacobiReport& report) {
  const ExecutionSpace& space = scratch.space();
  const auto n = static_cast<Index>(S.extent(0));
  const Dense<T> L = dense<T>(scratch, "heddle::eigen::cholesky", n, n);
  Solved<T> solved;
  std::vector<Index> order;
  const double least = sorted_cholesky<T>(scratch, S, order, L);
  if (!(least > 0)) {
    return {};
  }
  std::optional<Dense<T>> Q = first.vectors;
  if (Q) {
    const Dense<T> M = dense<T>(scratch, "heddle::eigen::transformed", n, n);
    transform<T>(scratch, S, *Q, M);
    // Vectors too coarse for the small eigenvalues would lose these.
    if (sorted_cholesky<T>(scratch, M, order, L) < std::min(least, 0.25)) {
      Q.reset();
      sorted_cholesky<T>(scratch, S, order, L);
    }
  }
  BlockColumns<T> B(scratch, n, n, options.block);
  if (options.reproducible) B.set_portable();
  copy_matrix<T>(space, strided(L), B.columns());
  orthogonalise(scratch, B, n, options, context, report);
  const std::vector<double> norms = column_norms<T>(scratch, B.columns());
  solved.vectors = B.columns();
  for (const double norm : norms) {
    solved.values.push_back(norm * norm);
    solved.factors.push_back(norm > 0 ? 1 / norm : 0);
  }
  solved.rows = order;
  if (Q && vectors) {
    // Back from the basis of Q.
    const Dense<T> inner = dense<T>(scratch, "heddle::eigen::inner_vectors", n, n);
    std::vector<Index> straight(static_cast<std::size_t>(n));
    std::iota(straight.begin(), straight.end(), Index{0});
    gather_vectors<T>(scratch, B.columns(), order, straight, solved.factors, inner);
    const Dense<T> outer = dense<T>(scratch, "heddle::eigen::outer_vectors", n, n);
    blas::gemm<T>(*context, Operation::none, Operation::none, T(1), *Q, inner, T(0), outer);
    solved.vectors = outer;
    std::fill(solved.factors.begin(), solved.factors.end(), 1.0);
    solved.rows.clear();
  }
  return solved;
}

// Solve by the singular vectors of S + shift I, which are its eigenvectors: a shift of twice the norm makes it well
// conditioned.
template <Scalar T>
Solved<T> normwise(const Scratch& scratch, const std::optional<blas::Context>& context, const Dense<T>& S,
                   const First<T>& first, const JacobiOptions& options, JacobiReport& report) {
  using R = Real<T>;
  const ExecutionSpace& space = scratch.space();
  const auto n = static_cast<Index>(S.extent(0));
  const std::optional<Dense<T>>& Q = first.vectors;
  double shift = 2 * (first.norm > 0 ? first.norm : static_cast<double>(norm_estimate<T>(space, S)));
  while (true) {
    BlockColumns<T> B(scratch, n, n, options.block);
    if (options.reproducible) B.set_portable();
    const MatrixView<T> X = B.columns();
    const R added = static_cast<R>(shift);
    if (Q) {
      copy_matrix<T>(space, strided(*Q), X);
      blas::gemm<T>(*context, Operation::none, Operation::none, T(1), S, *Q, T(added), X);
    } else {
      for_each_element(
          space, "heddle::eigen::shifted", n, n,
          KOKKOS_LAMBDA(Index i, Index j) { X(i, j) = i == j ? S(i, j) + added : S(i, j); });
    }
    orthogonalise(scratch, B, n, options, context, report);
    const std::vector<double> norms = column_norms<T>(scratch, X);
    // A norm estimated far too low: an eigenvalue near -shift.
    if (*std::min_element(norms.begin(), norms.end()) < shift / 8) {
      shift *= 4;
      report.off_norms.clear();
      report.sweeps = 0;
      continue;
    }
    Solved<T> solved;
    solved.vectors = X;
    for (const double norm : norms) {
      solved.values.push_back(norm - static_cast<double>(added));
      solved.factors.push_back(1 / norm);
    }
    return solved;
  }
}

template <Scalar T>
Solved<T> by_rotations(const ExecutionSpace& space, const Dense<T>& S, bool vectors, const JacobiOptions& options,
                       JacobiReport& report) {
  using R = Real<T>;
  const auto n = static_cast<Index>(S.extent(0));
  const Dense<T> Q = vectors ? identity<T>(space, n) : Dense<T>();
  const Criterion<R> criterion = criterion_for<T>(options.tolerance, n);
  const bool classical = report.method == JacobiMethod::classical;
  require(!classical || options.accuracy != JacobiAccuracy::relative,
          "eigen::jacobi: the classical order takes the largest element first, which is no order for accuracy "
          "\"relative\"");
  const bool is_relative = options.accuracy != JacobiAccuracy::norm && !classical;
  report.accuracy = is_relative ? JacobiAccuracy::relative : JacobiAccuracy::norm;
  const Norms<R> norms = norms_of<T>(space, S);
  two_sided<T>(space, S, Q, {criterion.least, criterion.tolerance, norms.all, is_relative},
               options.accuracy == JacobiAccuracy::automatic ? Indefinite::turns_to_norm : Indefinite::refused, options,
               report);
  Solved<T> solved;
  const std::vector<R> diagonal = diagonal_of<T>(space, S);
  solved.values.assign(diagonal.begin(), diagonal.end());
  solved.vectors = Q;
  solved.factors.assign(diagonal.size(), 1.0);
  return solved;
}

JacobiMethod chosen_method(const JacobiOptions& options, Index n) {
  if (options.method != JacobiMethod::automatic) {
    require(!options.reproducible || options.method != JacobiMethod::preconditioned,
            "eigen::jacobi: the library's tridiagonalisation has other bits for other numbers of threads; with "
            "`reproducible`, choose blocked");
    return options.method;
  }
  if (n <= largest_small && !options.warm_start) {
    return JacobiMethod::round_robin;
  }
  const bool alone = options.reproducible || options.warm_start || !heddle::impl::backend_has_eigenvectors();
  return alone ? JacobiMethod::blocked : JacobiMethod::preconditioned;
}

template <Scalar T>
void require_arguments(const StridedMatrix<const T>& A, const StridedVector<Real<T>>& w, const StridedMatrix<T>* V,
                       const JacobiOptions& options) {
  const auto n = static_cast<Index>(A.extent(0));
  require_shapes(n, static_cast<Index>(A.extent(1)), static_cast<Index>(w.extent(0)));
  if (V != nullptr) {
    require_vectors(static_cast<Index>(V->extent(0)), static_cast<Index>(V->extent(1)), n);
  }
  require_options(options);
  require(options.rotations >= 0, "eigen::jacobi: at most ", options.rotations, " rotations");
  require(!options.warm_start || V != nullptr, "eigen::jacobi: a warm start begins at the vectors in V");
  require(!options.warm_start || !options.reproducible,
          "eigen::jacobi: a warm start multiplies by the BLAS, whose bits depend on the number of threads");
}

// A small matrix as a batch of one.
template <Scalar T>
void solve_small(const ExecutionSpace& space, const StridedMatrix<const T>& A, const StridedVector<Real<T>>& w,
                 const StridedMatrix<T>* V, const JacobiOptions& options, JacobiReport& report) {
  const std::size_t n = A.extent(0);
  const auto batch = [n](auto* data, std::size_t row, std::size_t column) {
    return Kokkos::View<std::remove_pointer_t<decltype(data)>***, Kokkos::LayoutStride, MemorySpace>(
        data, Kokkos::LayoutStride(n, row, n, column, 1, 1));
  };
  const StridedMatrix<Real<T>> values(w.data(), Kokkos::LayoutStride(n, w.stride(0), 1, 1));
  std::optional<StridedBatch<T>> vectors;
  if (V != nullptr) {
    vectors = batch(V->data(), V->stride(0), V->stride(1));
  }
  static_cast<void>(
      jacobi_batched<T>(space, batch(A.data(), A.stride(0), A.stride(1)), values, vectors ? &*vectors : nullptr,
                        {options.accuracy, options.upper, options.tolerance, options.sweeps, options.reproducible},
                        &report, options.method));
  require(options.accuracy != JacobiAccuracy::relative || report.accuracy == JacobiAccuracy::relative, not_definite);
}

// Diagonal matrices are returned as given: scaling might underflow their smallest element.
template <Scalar T> Solved<T> of_diagonal(const ExecutionSpace& space, const StridedMatrix<const T>& A, bool vectors) {
  Solved<T> solved;
  const std::vector<Real<T>> diagonal = diagonal_of<T>(space, A);
  solved.values.assign(diagonal.begin(), diagonal.end());
  solved.factors.assign(diagonal.size(), 1.0);
  if (vectors) {
    solved.vectors = identity<T>(space, static_cast<Index>(A.extent(0)));
  }
  return solved;
}

// The scaled matrix by the method and to the accuracy that the report is to have.
template <Scalar T>
Solved<T> solve_scaled(const Scratch& scratch, const blas::Context* kept, const Dense<T>& S, const StridedMatrix<T>* V,
                       const JacobiOptions& options, JacobiReport& report) {
  if (report.method != JacobiMethod::blocked && report.method != JacobiMethod::preconditioned) {
    return by_rotations<T>(scratch.space(), S, V != nullptr, options, report);
  }
  std::optional<blas::Context> context;
  First<T> first;
  if (report.method == JacobiMethod::preconditioned || options.warm_start) {
    context = context_of(scratch.space(), kept);
    first = first_vectors<T>(scratch, *context, S, V, options);
  }
  if (options.accuracy != JacobiAccuracy::norm && !first.indefinite) {
    report.accuracy = JacobiAccuracy::relative;
    const std::optional<Solved<T>> found = relative<T>(scratch, context, S, first, V != nullptr, options, report);
    if (found) {
      return *found;
    }
  }
  require(options.accuracy != JacobiAccuracy::relative, not_definite);
  report.accuracy = JacobiAccuracy::norm;
  return normwise<T>(scratch, context, S, first, options, report);
}

}  // namespace

template <Scalar T>
JacobiReport solve_with(const Scratch& scratch, const blas::Context* kept, const StridedMatrix<const T>& A,
                        const StridedVector<Real<T>>& w, const StridedMatrix<T>* V, const JacobiOptions& asked) {
  const Kokkos::Profiling::ScopedRegion region("heddle::eigen::jacobi");
  const ExecutionSpace& space = scratch.space();
  JacobiOptions options = asked;
  const auto n = static_cast<Index>(A.extent(0));
  require_arguments<T>(A, w, V, options);
  JacobiReport report;
  report.method = chosen_method(options, n);
  require(!options.warm_start || report.method == JacobiMethod::blocked, "eigen::jacobi: method \"",
          to_string(report.method), "\" has no warm start; blocked does");
  require(report.method != JacobiMethod::preconditioned || heddle::impl::backend_has_eigenvectors(),
          "eigen::jacobi: this build has no tridiagonalisation to begin at; choose blocked");
  report.accuracy = options.accuracy == JacobiAccuracy::relative ? JacobiAccuracy::relative : JacobiAccuracy::norm;
  if (n == 0) {
    return report;
  }
  if (report.method == JacobiMethod::round_robin && n <= largest_small) {
    solve_small<T>(space, A, w, V, options, report);
    return report;
  }
  const Scaled<T> matrix = scaled<T>(scratch, A, options.upper);
  if (options.accuracy != JacobiAccuracy::norm && report.method != JacobiMethod::classical && !matrix.diagonal &&
      matrix.spread > large_spread<Real<T>>) {
    if (solve_graded<T>(space, A, w, V, options, report)) {
      return report;
    }
    require(options.accuracy != JacobiAccuracy::relative, not_definite);
    options.accuracy = JacobiAccuracy::norm;
  }
  if (matrix.diagonal) {
    report.off_norms.push_back(0);
    store_sorted<T>(scratch, of_diagonal<T>(space, A, V != nullptr), 0, w, V);
  } else {
    store_sorted<T>(scratch, solve_scaled<T>(scratch, kept, matrix.matrix, V, options, report), matrix.exponent, w, V);
  }
  return report;
}

#define HEDDLE_INSTANTIATE(T)                                                                              \
  template JacobiReport solve_with<T>(const Scratch&, const blas::Context*, const StridedMatrix<const T>&, \
                                      const StridedVector<Real<T>>&, const StridedMatrix<T>*, const JacobiOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl

namespace heddle::eigen::compiled {

template <Scalar T>
JacobiReport jacobi(const ExecutionSpace& space, const StridedMatrix<const T>& A, const StridedVector<Real<T>>& w,
                    const StridedMatrix<T>* V, const JacobiOptions& options) {
  return impl::solve_with<T>(space, nullptr, A, w, V, options);
}

#define HEDDLE_INSTANTIATE(T)                                                                                          \
  template JacobiReport jacobi<T>(const ExecutionSpace&, const StridedMatrix<const T>&, const StridedVector<Real<T>>&, \
                                  const StridedMatrix<T>*, const JacobiOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::compiled
