#include "core/instantiate.hpp"
#include "dist/elementwise.hpp"
#include "eigen/dense/cholesky.hpp"
#include "eigen/dense/columns.hpp"
#include "eigen/dense/copies.hpp"
#include "eigen/dense/graded.hpp"
#include "eigen/dense/orthonormal.hpp"
#include "eigen/dense/pencil.hpp"
#include "eigen/dense/results.hpp"
#include "eigen/dense/scaling.hpp"
#include "eigen/dense/solve.hpp"
#include "eigen/dense/two_sided.hpp"
#include <heddle/eigen/generalised.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

namespace heddle::eigen::impl {
namespace {

using heddle::impl::for_each_element;

// Elements of L^-1 H L^-H that are larger than H's by more than this lose digits of small eigenvalues to large ones,
// unless the rotations keep the grading.
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

// Eigenvalues, in any order, and vectors of a pencil; none where they are not wanted.
template <Scalar T> struct Pairs {
  std::vector<double> values;
  Dense<T> vectors;
};

// The vectors of a solution, row r in row rows[r] (in its own where there are none) and of length 1.
template <Scalar T> Dense<T> unit_vectors(const ExecutionSpace& space, const Solved<T>& solved) {
  const auto n = static_cast<Index>(solved.values.size());
  const Dense<T> U = dense<T>(space, "heddle::eigen::unit_vectors", n, n);
  std::vector<Index> straight(solved.values.size());
  std::iota(straight.begin(), straight.end(), Index{0});
  gather_vectors<T>(space, solved.vectors, solved.rows, straight, solved.factors, strided(U));
  return U;
}

// M, graded, by rotations from both sides of every element that is not small beside its own row and column: the largest
// diagonal elements first.
template <Scalar T>
Pairs<T> by_graded_rotations(const ExecutionSpace& space, const Dense<T>& M, bool vectors, const JacobiOptions& options,
                             JacobiReport& report) {
  using R = Real<T>;
  const auto n = static_cast<Index>(M.extent(0));
  std::vector<double> sizes;
  for (const R value : diagonal_of<T>(space, M)) {
    sizes.push_back(-std::abs(static_cast<double>(value)));
  }
  const std::vector<Index> order = ascending(sizes);
  const Dense<T> sorted = permuted<T>(space, M, on_device(space, "heddle::eigen::order", order));
  const Dense<T> Q = vectors ? identity<T>(space, n) : Dense<T>();
  const Criterion<R> criterion = criterion_for<T>(options.tolerance, n);
  two_sided<T>(space, sorted, Q, {criterion.least, criterion.tolerance, R(1), true}, Indefinite::allowed, options,
               report);
  report.accuracy = JacobiAccuracy::norm;
  Solved<T> solved;
  for (const R value : diagonal_of<T>(space, sorted)) {
    solved.values.push_back(static_cast<double>(value));
  }
  if (!vectors) {
    return {solved.values, {}};
  }
  solved.factors.assign(solved.values.size(), 1.0);
  solved.vectors = Q;
  solved.rows = order;
  return {solved.values, unit_vectors<T>(space, solved)};
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
        overlap_(space, pencil.S, least_share_) {}

  Pairs<T> solve(JacobiGeneralisedReport& report) {
    report.least_pivot = overlap_.least();
    const bool one_sided = !options_.warm_start &&
                           (options_.method == JacobiMethod::automatic || options_.method == JacobiMethod::blocked);
    const bool wants_relative = options_.accuracy == JacobiAccuracy::relative;
    if (options_.accuracy != JacobiAccuracy::norm && (one_sided || wants_relative)) {
      const bool within = pencil_.spread <= large_spread<R>;
      const bool definite = within && factor_energies();
      require(definite || !wants_relative, within ? not_definite_text : too_graded_text);
      if (definite && one_sided) {
        const bool refines = report.least_pivot * most_growth < 1;
        const Pairs<T> found = of_definite(refines, report);
        return refines && report.converged ? refined(found, report) : found;
      }
    }
    return of_reduced(report);
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
    energies_ = pivoted_cholesky<T>(space_, G_, least_share_);
    return energies_.failed < 0;
  }

  // C = L^-H U; U is overwritten.
  Dense<T> expanded(const Dense<T>& U) const {
    const Dense<T> X = dense<T>(space_, "heddle::eigen::expanded", n_, n_);
    overlap_.expand(U, X);
    return X;
  }

  // The singular values of L^-1 G, by rotations of its columns.
  Pairs<T> of_definite(bool refines, JacobiGeneralisedReport& report) {
    const Dense<T> X = dense<T>(space_, "heddle::eigen::quotient", n_, n_);
    overlap_.reduce_factor(G_, energies_.order, X);
    // Columns in descending order: rotations converge the sooner.
    std::vector<double> lengths = column_norms<T>(space_, X);
    std::transform(lengths.begin(), lengths.end(), lengths.begin(), [](double length) { return -length; });
    BlockColumns<T> B(space_, n_, n_, options_.block);
    gather_vectors<T>(space_, X, {}, ascending(lengths), std::vector<double>(lengths.size(), 1.0),
                      strided(B.columns()));
    report.method = JacobiMethod::blocked;
    report.accuracy = JacobiAccuracy::relative;
    if (n_ > 1) {
      sweep_until_orthogonal<T>(B, criterion_for<T>(options_.tolerance, n_).tolerance, n_, options_, report);
    }
    Solved<T> solved;
    for (const double norm : column_norms<T>(space_, B.columns())) {
      solved.values.push_back(norm * norm);
      solved.factors.push_back(norm > 0 ? 1 / norm : 0);
    }
    if (C_ == nullptr && !refines) {
      return {solved.values, {}};
    }
    solved.vectors = B.columns();
    return {solved.values, expanded(unit_vectors<T>(space_, solved))};
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
      const bool refines = report.method == JacobiMethod::round_robin;
      Pairs<T> found = by_graded_rotations<T>(space_, M, C_ != nullptr || refines, options_, report);
      if (found.vectors.size() > 0) {
        found.vectors = expanded(found.vectors);
      }
      return refines && report.converged ? refined(found, report) : found;
    }
    const bool vectors = C_ != nullptr;
    JacobiOptions options = options_;
    options.upper = false;
    const Dense<T> U = options.warm_start
                           ? overlap_.contract(scaled_vectors<T>(space_, *C_, pencil_.exponents))
                           : dense<T>(space_, "heddle::eigen::reduced_vectors", vectors ? n_ : 0, vectors ? n_ : 0);
    const Values<R> values(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "heddle::eigen::reduced_values"),
                           static_cast<std::size_t>(n_));
    const StridedMatrix<T> to = strided(U);
    static_cast<JacobiReport&>(report) =
        solve_with<T>(space_, nullptr, strided(Kokkos::View<const T**, Kokkos::LayoutLeft, MemorySpace>(M)),
                      strided(values), vectors ? &to : nullptr, options);
    const std::vector<R> host = to_host(space_, "heddle::eigen::values", values);
    return {std::vector<double>(host.begin(), host.end()), vectors ? expanded(U) : Dense<T>()};
  }

  // The pencil in the basis of vectors that nearly solve it, in twice the precision, and its rotations in the order
  // that keeps a grading: what is left of it is small, and so are the angles.
  Pairs<T> refined(const Pairs<T>& found, JacobiGeneralisedReport& report) {
    const Dense<T> H = dense<T>(space_, "heddle::eigen::near_diagonal", n_, n_);
    const Dense<T> I = dense<T>(space_, "heddle::eigen::near_identity", n_, n_);
    transform<T>(space_, pencil_.H, found.vectors, H);
    transform<T>(space_, scaled_overlap<T>(space_, S_, options_.upper, pencil_.exponents), found.vectors, I);
    const Overlap<T> near(space_, I, 0.0);
    const Dense<T> M = near.reduced(H);
    JacobiReport second;
    second.method = JacobiMethod::cyclic;
    const Pairs<T> rotated = by_graded_rotations<T>(space_, M, true, options_, second);
    report.refinement_sweeps = second.sweeps;
    report.rotations += second.rotations;
    report.converged = second.converged;
    report.end = second.converged ? report.end : second.end;
    const Dense<T> turned = dense<T>(space_, "heddle::eigen::turned", n_, n_);
    near.expand(rotated.vectors, turned);
    const Dense<T> X = dense<T>(space_, "heddle::eigen::refined", n_, n_);
    doubled_product<T>(space_, found.vectors, turned, X);
    return {rotated.values, X};
  }

  ExecutionSpace space_;
  const Pencil<T>& pencil_;
  const StridedMatrix<const T>& S_;
  const StridedMatrix<T>* C_;
  JacobiOptions options_;
  Index n_;
  double least_share_;
  Overlap<T> overlap_;
  Dense<T> G_;
  PivotedCholesky energies_;
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
  // Of the methods and of what goes with a warm start jacobi() says the same to a pencil.
}

// What the solver of double finds, rounded.
template <Scalar T>
JacobiGeneralisedReport solve_in_double(const ExecutionSpace& space, const StridedMatrix<const T>& H,
                                        const StridedMatrix<const T>& S, const StridedVector<Real<T>>& w,
                                        const StridedMatrix<T>* C, JacobiOptions options) {
  using R = Real<T>;
  using W = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;
  const auto n = static_cast<Index>(H.extent(0));
  options.tolerance = static_cast<double>(criterion_for<T>(options.tolerance, n).tolerance);
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
