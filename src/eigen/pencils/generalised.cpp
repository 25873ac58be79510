// H C = S C diag(w): definite pencils by one-sided rotations of L^-1 G, others by L^-1 H L^-H, and their refinement.
#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "eigen/dense/columns.hpp"
#include "eigen/dense/copies.hpp"
#include "eigen/dense/results.hpp"
#include "eigen/dense/scaling.hpp"
#include "eigen/dense/solve.hpp"
#include "eigen/pencils/cholesky.hpp"
#include "eigen/pencils/graded.hpp"
#include "eigen/pencils/pairs.hpp"
#include "eigen/pencils/pencil.hpp"
#include <heddle/eigen/generalised.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <type_traits>

namespace heddle::eigen::impl {
namespace {

using heddle::impl::for_each_element;

// Elements of L^-1 H L^-H that are larger than H's by more than this lose digits of small eigenvalues to large ones,
// unless the rotations keep the grading. Beyond it values are refined, whatever the backward errors are.
constexpr double most_growth = 128;

template <Scalar T> Real<T> largest_element(const ExecutionSpace& space, const Dense<T>& A) {
  const auto n = static_cast<Index>(A.extent(0));
  Real<T> most = 0;
  Kokkos::parallel_reduce(
      "heddle::eigen::largest_element", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, n * n),
      KOKKOS_LAMBDA(Index k, Real<T> & found) { found = Kokkos::fmax(found, largest_part(A(k % n, k / n))); },
      Kokkos::Max<Real<T>>(most));
  return std::max(most, Real<T>(0));
}

// Row i times 2^-exponents(i).
template <Scalar T> void scale_rows(const ExecutionSpace& space, const Dense<T>& A, const Values<int>& exponents) {
  for_each_element(
      space, "heddle::eigen::scaled_rows", static_cast<Index>(A.extent(0)), static_cast<Index>(A.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { A(i, j) = shifted<T>(A(i, j), -exponents(i)); });
}
// Row i times 2^exponents(i), of vectors that a caller gave.
template <Scalar T>
Dense<T> scaled_vectors(const ExecutionSpace& space, const StridedMatrix<T>& C, const Values<int>& exponents) {
  const auto n = static_cast<Index>(C.extent(0));
  const Dense<T> X = dense<T>(space, "heddle::eigen::scaled_vectors", n, n);
  for_each_element(
      space, "heddle::eigen::scaled_vectors", n, n,
      KOKKOS_LAMBDA(Index i, Index j) { X(i, j) = shifted<T>(C(i, j), exponents(i)); });
  return X;
}

// The vectors of a solution, of length 1.
template <Scalar T> Dense<T> unit_vectors(const ExecutionSpace& space, const Solved<T>& solved) {
  const auto n = static_cast<Index>(solved.values.size());
  const Dense<T> U = dense<T>(space, "heddle::eigen::unit_vectors", n, n);
  std::vector<Index> straight(solved.values.size());
  std::iota(straight.begin(), straight.end(), Index{0});
  gather_vectors<T>(space, solved.vectors, solved.rows, straight, solved.factors, strided(U));
  return U;
}

// Column j of an identity below the columns of B becomes row order[j] of it, as column j of B is column order[j] of X:
// rotations turn both, and X V = B.
template <Scalar T>
void begin_products(const ExecutionSpace& space, const BlockColumns<T>& B, const std::vector<Index>& order) {
  const auto at = on_device(space, "heddle::eigen::order", order);
  const auto memory = B.memory();
  const Index below = B.carried_begin();
  Kokkos::parallel_for(
      "heddle::eigen::carried_identity",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(order.size())),
      KOKKOS_LAMBDA(Index j) { memory(below + at(j), j, 0) = T(1); });
}
// V diag(factors)
template <Scalar T>
Dense<T> scaled_products(const ExecutionSpace& space, const BlockColumns<T>& B, const std::vector<double>& factors) {
  const auto n = static_cast<Index>(factors.size());
  const auto by = on_device(space, "heddle::eigen::factors", factors);
  const auto memory = B.memory();
  const Index below = B.carried_begin();
  const Dense<T> V = dense<T>(space, "heddle::eigen::products", n, n);
  for_each_element(
      space, "heddle::eigen::products", n, n,
      KOKKOS_LAMBDA(Index i, Index j) { V(i, j) = memory(below + i, j, 0) * static_cast<Real<T>>(by(j)); });
  return V;
}
// Rows i of column j of X with h_ii > w_j from Y.
template <Scalar T>
void take_high_rows(const ExecutionSpace& space, const Dense<T>& H, const std::vector<double>& w, const Dense<T>& Y,
                    const Dense<T>& X) {
  const auto n = static_cast<Index>(w.size());
  const auto values = on_device(space, "heddle::eigen::values", w);
  for_each_element(
      space, "heddle::eigen::high_rows", n, n, KOKKOS_LAMBDA(Index i, Index j) {
        if (static_cast<double>(real_part(H(i, i))) > values(j)) {
          X(i, j) = Y(i, j);
        }
      });
}

// One solution of a scaled pencil.
template <Scalar T> class Generalised {
 public:
  using R = Real<T>;

  Generalised(const ExecutionSpace& space, const Pencil<T>& pencil, const StridedMatrix<const T>& S,
              const StridedMatrix<T>* C, const JacobiOptions& options)
      : space_(space),
        pencil_(pencil),
        S_(S),
        C_(C),
        options_(options),
        n_(static_cast<Index>(pencil.H.extent(0))),
        least_share_(static_cast<double>(n_) * static_cast<double>(unit_roundoff<T>)),
        pivots_(factor_overlap<T>(space, pencil.S, least_share_)),
        overlap_(space, pencil.S, pivots_.order) {}

  Pairs<T> solve(JacobiGeneralisedReport& report) {
    report.least_pivot = pivots_.least;
    const bool wants_relative = options_.accuracy == JacobiAccuracy::relative;
    const bool one_sided = !options_.warm_start &&
                           (options_.method == JacobiMethod::automatic || options_.method == JacobiMethod::blocked);
    if (wants_relative || (one_sided && options_.accuracy == JacobiAccuracy::automatic)) {
      const bool within = pencil_.spread <= large_spread<R>;
      const bool definite = within && factor_energies();
      require(definite || !wants_relative, within ? not_definite_text : too_graded_text);
      if (definite) {
        const bool is_coarse = report.least_pivot * most_growth < 1;
        return improved(of_definite(C_ != nullptr || is_coarse, report), is_coarse, report);
      }
    }
    const Pairs<T> found = of_reduced(report);
    return improved(found, report.growth > most_growth, report);
  }

 private:
  static constexpr const char* not_definite_text =
      "eigen::jacobi: H is not positive definite; accuracy \"relative\" needs that";
  static constexpr const char* too_graded_text =
      "eigen::jacobi: the scaled diagonal of H spans more than 2^800; accuracy \"relative\" is out of reach";

  // H = G G^H, where it is positive definite.
  bool factor_energies() {
    G_ = dense<T>(space_, "heddle::eigen::energies", n_, n_);
    Kokkos::deep_copy(space_, flat(G_), flat(pencil_.H));
    const PivotedCholesky energies = pivoted_cholesky<T>(space_, G_, least_share_);
    rows_of_G_ = energies.order;
    return energies.failed < 0;
  }

  // L^-H U, A = L L^H; U is overwritten.
  Dense<T> expanded(const FactoredMatrix<T>& A, const Dense<T>& U) const {
    const Dense<T> X = dense<T>(space_, "heddle::eigen::expanded", n_, n_);
    A.expand(U, X);
    return X;
  }

  // The singular values of L^-1 G = U diag(sigma) V^H, by rotations of its columns. Vectors are L^-H U = G^-H V
  // diag(sigma): the first has errors of some u |c_j| in each component, the second of u sigma_j / sqrt(h_ii), so that
  // each gives the rows in which it has the smaller ones. With these refinement sees every eigenvalue, however small.
  Pairs<T> of_definite(bool vectors, JacobiGeneralisedReport& report) {
    const Dense<T> X = dense<T>(space_, "heddle::eigen::quotient", n_, n_);
    overlap_.reduce_factor(G_, rows_of_G_, X);
    // Columns in descending order: rotations converge the sooner.
    std::vector<double> lengths = column_norms<T>(space_, X);
    std::transform(lengths.begin(), lengths.end(), lengths.begin(), [](double length) { return -length; });
    const std::vector<Index> order = ascending(lengths);
    BlockColumns<T> B(space_, n_, n_, options_.block, 1, vectors ? n_ : 0);
    gather_vectors<T>(space_, X, {}, order, std::vector<double>(lengths.size(), 1.0), strided(B.columns()));
    if (vectors) {
      begin_products<T>(space_, B, order);
    }
    report.method = JacobiMethod::blocked;
    report.accuracy = JacobiAccuracy::relative;
    if (n_ > 1) {
      sweep_until_orthogonal<T>(B, criterion_for<T>(options_.tolerance, n_).tolerance, n_, options_, report);
    }
    Solved<T> solved;
    const std::vector<double> norms = column_norms<T>(space_, B.columns());
    for (const double norm : norms) {
      solved.values.push_back(norm * norm);
      solved.factors.push_back(norm > 0 ? 1 / norm : 0);
    }
    if (!vectors) {
      return {solved.values, {}};
    }
    solved.vectors = B.columns();
    const Dense<T> C = expanded(overlap_, unit_vectors<T>(space_, solved));
    const FactoredMatrix<T> energies(space_, G_, rows_of_G_);
    take_high_rows<T>(space_, pencil_.H, solved.values, expanded(energies, scaled_products<T>(space_, B, norms)), C);
    return {solved.values, C};
  }

  // The eigensystem of L^-1 H L^-H.
  Pairs<T> of_reduced(JacobiGeneralisedReport& report) {
    const Dense<T> M = overlap_.reduced(pencil_.H);
    const auto largest = static_cast<double>(largest_element<T>(space_, pencil_.H));
    report.growth = largest > 0 ? static_cast<double>(largest_element<T>(space_, M)) / largest : 1;
    const bool chosen = options_.method == JacobiMethod::automatic;
    const bool keeps_grading =
        chosen || options_.method == JacobiMethod::cyclic || options_.method == JacobiMethod::round_robin;
    if (report.growth > most_growth && keeps_grading && options_.accuracy == JacobiAccuracy::automatic &&
        !options_.warm_start) {
      report.method = chosen ? JacobiMethod::round_robin : options_.method;
      const Pairs<T> found = by_graded_rotations<T>(space_, M, options_, report);
      return {found.values, expanded(overlap_, found.vectors)};
    }
    JacobiOptions options = options_;
    options.upper = false;
    const Dense<T> U = options.warm_start ? overlap_.contract(scaled_vectors<T>(space_, *C_, pencil_.exponents))
                                          : dense<T>(space_, "heddle::eigen::reduced_vectors", n_, n_);
    const Values<R> values(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "heddle::eigen::reduced_values"),
                           static_cast<std::size_t>(n_));
    const StridedMatrix<T> to = strided(U);
    static_cast<JacobiReport&>(report) =
        solve_with<T>(space_, nullptr, strided(Kokkos::View<const T**, Kokkos::LayoutLeft, MemorySpace>(M)),
                      strided(values), &to, options);
    // M has lost information small beside its own norm, however accurately its eigenvalues are found.
    report.accuracy = JacobiAccuracy::norm;
    const std::vector<R> host = to_host(space_, "heddle::eigen::values", values);
    return {std::vector<double>(host.begin(), host.end()), expanded(overlap_, U)};
  }

  // Pairs refined until their backward errors are well within what is promised; once at least where `at_once`.
  Pairs<T> improved(Pairs<T> found, bool at_once, JacobiGeneralisedReport& report) {
    constexpr int most_steps = 4;
    if (found.vectors.size() == 0) {
      return found;
    }
    const double enough = 4 * std::max(1.0, options_.tolerance / static_cast<double>(unit_roundoff<T>));
    const Dense<T> S = scaled_overlap<T>(space_, S_, options_.upper, pencil_.exponents);
    for (int step = 0; step < most_steps && report.converged; ++step) {
      const bool is_due = step == 0 && at_once;
      if (!is_due && backward_error<T>(space_, pencil_.H, S, found, options_.reproducible) <= enough) {
        break;
      }
      JacobiReport cyclic;
      cyclic.method = JacobiMethod::cyclic;
      const std::optional<Pairs<T>> better = refined<T>(space_, pencil_.H, S, found, options_, cyclic);
      if (!better) {
        break;
      }
      found = *better;
      report.refinement_sweeps += cyclic.sweeps;
      report.rotations += cyclic.rotations;
      report.converged = cyclic.converged;
      report.end = cyclic.converged ? report.end : cyclic.end;
    }
    return found;
  }

  ExecutionSpace space_;
  const Pencil<T>& pencil_;
  const StridedMatrix<const T>& S_;
  const StridedMatrix<T>* C_;
  JacobiOptions options_;
  Index n_;
  double least_share_;
  PivotedCholesky pivots_;
  FactoredMatrix<T> overlap_;
  Dense<T> G_;
  std::vector<Index> rows_of_G_;
};

template <Scalar T>
void require_pencil(const StridedMatrix<const T>& H, const StridedMatrix<const T>& S, const StridedVector<Real<T>>& w,
                    const StridedMatrix<T>* C, const JacobiOptions& options) {
  const auto n = static_cast<Index>(H.extent(0));
  require(H.extent(1) == H.extent(0), "eigen::jacobi: H is ", H.extent(0), " x ", H.extent(1),
          "; expected a square matrix");
  require(S.extent(0) == H.extent(0) && S.extent(1) == H.extent(0), "eigen::jacobi: S is ", S.extent(0), " x ",
          S.extent(1), "; expected ", n, " x ", n, " as H");
  require_shapes(n, n, static_cast<Index>(w.extent(0)));
  require(C == nullptr || (C->extent(0) == H.extent(0) && C->extent(1) == H.extent(0)), "eigen::jacobi: C is ",
          C == nullptr ? 0 : C->extent(0), " x ", C == nullptr ? 0 : C->extent(1), "; expected ", n, " x ", n);
  require_options(options);
  require(!options.warm_start || C != nullptr, "eigen::jacobi: a warm start begins at the vectors in C");
  // jacobi() checks the methods and their warm starts, for a pencil too.
}

// Solve in double and round the results.
template <Scalar T>
JacobiGeneralisedReport solve_in_double(const ExecutionSpace& space, const StridedMatrix<const T>& H,
                                        const StridedMatrix<const T>& S, const StridedVector<Real<T>>& w,
                                        const StridedMatrix<T>* C, const JacobiOptions& options) {
  using R = Real<T>;
  using W = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;
  const auto n = static_cast<Index>(H.extent(0));
  const Dense<W> wide_H = whole<W, T>(space, H, options.upper);
  const Dense<W> wide_S = whole<W, T>(space, S, options.upper);
  const Values<double> values(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::wide_values"),
                              static_cast<std::size_t>(n));
  const Index kept = C != nullptr ? n : 0;
  const Dense<W> wide_C = dense<W>(space, "heddle::eigen::wide_vectors", kept, kept);
  if (C != nullptr && options.warm_start) {
    const StridedMatrix<T> given = *C;
    for_each_element(
        space, "heddle::eigen::wide_vectors", n, n, KOKKOS_LAMBDA(Index i, Index j) { wide_C(i, j) = W(given(i, j)); });
  }
  const StridedMatrix<W> vectors = strided(wide_C);
  using Const = Kokkos::View<const W**, Kokkos::LayoutLeft, MemorySpace>;
  const JacobiGeneralisedReport report =
      compiled::jacobi_generalised<W>(space, strided(Const(wide_H)), strided(Const(wide_S)), strided(values),
                                      C != nullptr ? &vectors : nullptr, options);
  Kokkos::parallel_for(
      "heddle::eigen::values", Kokkos::RangePolicy<ExecutionSpace>(space, 0, n),
      KOKKOS_LAMBDA(Index i) { w(i) = static_cast<R>(values(i)); });
  if (C != nullptr) {
    copy_rounded<T, W>(space, wide_C, *C);
  }
  space.fence("heddle::eigen::solve_in_double");
  return report;
}

}  // namespace
}  // namespace heddle::eigen::impl

namespace heddle::eigen::compiled {

template <Scalar T>
JacobiGeneralisedReport jacobi_generalised(const ExecutionSpace& space, const StridedMatrix<const T>& H,
                                           const StridedMatrix<const T>& S, const StridedVector<Real<T>>& w,
                                           const StridedMatrix<T>* C, const JacobiOptions& options) {
  constexpr int float_spread = 60;
  const Kokkos::Profiling::ScopedRegion region("heddle::eigen::jacobi_generalised");
  impl::require_pencil<T>(H, S, w, C, options);
  if (H.extent(0) == 0) {
    return {};
  }
  const impl::Pencil<T> pencil = impl::scaled_pencil<T>(space, H, S, options.upper);
  if (std::is_same_v<Real<T>, float> && options.accuracy != JacobiAccuracy::norm && pencil.spread > float_spread) {
    return impl::solve_in_double<T>(space, H, S, w, C, options);
  }
  JacobiGeneralisedReport report;
  const impl::Pairs<T> pairs = impl::Generalised<T>(space, pencil, S, C, options).solve(report);
  impl::Solved<T> solved;
  solved.values = pairs.values;
  solved.factors.assign(pairs.values.size(), 1.0);
  if (C != nullptr) {
    impl::scale_rows<T>(space, pairs.vectors, pencil.exponents);
    solved.vectors = pairs.vectors;
  }
  impl::store_sorted<T>(space, solved, pencil.exponent, w, C);
  return report;
}

#define HEDDLE_INSTANTIATE(T)                                                                                          \
  template JacobiGeneralisedReport jacobi_generalised<T>(const ExecutionSpace&, const StridedMatrix<const T>&,         \
                                                         const StridedMatrix<const T>&, const StridedVector<Real<T>>&, \
                                                         const StridedMatrix<T>*, const JacobiOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::compiled
