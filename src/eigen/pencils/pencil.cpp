// Scaling of a Hermitian pencil, and its reduction by a Cholesky factor.
#include "eigen/pencils/pencil.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "eigen/dense/copies.hpp"
#include "eigen/dense/scaling.hpp"
#include "eigen/pencils/cholesky.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::eigen::impl {

using heddle::impl::for_each_element;

namespace {

template <Scalar T> int largest_exponent(const ExecutionSpace& space, const Dense<T>& A, const Values<int>& exponents) {
  const auto n = static_cast<Index>(A.extent(0));
  constexpr int none = std::numeric_limits<int>::min();
  const int most = largest_in_columns<int>(
      space, "heddle::eigen::largest_exponent", n, false, KOKKOS_LAMBDA(Index i, Index j) {
        const Real<T> size = largest_part(A(i, j));
        return size > 0 ? exponent_above(size) - exponents(i) - exponents(j) : none;
      });
  return most == none ? 0 : most;
}

// A_ij becomes a_ij 2^-(exponents(i) + exponents(j) + exponent).
template <Scalar T>
void scale_both(const ExecutionSpace& space, const Dense<T>& A, const Values<int>& exponents, int exponent) {
  const auto n = static_cast<Index>(A.extent(0));
  for_each_element(
      space, "heddle::eigen::scaled_pencil", n, n,
      KOKKOS_LAMBDA(Index i, Index j) { A(i, j) = shifted<T>(A(i, j), -exponents(i) - exponents(j) - exponent); });
}

// Throws Error(argument), which names the matrix, for NaN and infinity in it.
template <Scalar T> void require_finite(const ExecutionSpace& space, const Dense<T>& A, const char* name) {
  const auto n = static_cast<Index>(A.extent(0));
  Index wrong = 0;
  Kokkos::parallel_reduce(
      "heddle::eigen::not_finite", column_teams(space, n),
      KOKKOS_LAMBDA(const ColumnTeam& team, Index& all) {
        const Index j = team.league_rank();
        Index mine = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, j, n),
            [&](Index i, Index& here) { here += Kokkos::isfinite(largest_part(A(i, j))) ? 0 : 1; }, mine);
        Kokkos::single(Kokkos::PerTeam(team), [&] { all += mine; });
      },
      wrong);
  require(wrong == 0, "eigen::jacobi: ", name, " has ", wrong,
          " elements that are NaN or infinite in the triangle that is read");
}

}  // namespace

template <Scalar T>
Pencil<T> scaled_pencil(const ExecutionSpace& space, const StridedMatrix<const T>& H, const StridedMatrix<const T>& S,
                        bool upper) {
  Pencil<T> pencil;
  pencil.H = whole<T, T>(space, H, upper);
  require_finite<T>(space, pencil.H, "H");
  pencil.S = whole<T, T>(space, S, upper);
  require_finite<T>(space, pencil.S, "S");
  std::vector<int> exponents;
  const std::vector<Real<T>> diagonal = diagonal_of<T>(space, pencil.S);
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    require(diagonal[i] > 0, "eigen::jacobi: S is not positive definite: its diagonal element in row ", i,
            " (counted from 0) is ", diagonal[i], "; expected a positive number");
    exponents.push_back(static_cast<int>(std::floor(std::ilogb(diagonal[i]) / 2.0)));
  }
  const Values<int> by = on_device(space, "heddle::eigen::exponents", exponents);
  pencil.exponents = by;
  pencil.exponent = largest_exponent<T>(space, pencil.H, by);
  const int down = pencil.exponent;
  scale_both<T>(space, pencil.H, by, down);
  scale_both<T>(space, pencil.S, by, 0);
  const std::vector<Real<T>> energies = diagonal_of<T>(space, pencil.H);
  const auto [least, most] = std::minmax_element(energies.begin(), energies.end());
  pencil.spread = *least > 0 ? std::ilogb(*most) - std::ilogb(*least) : 0;
  return pencil;
}

template <Scalar T>
Dense<T> scaled_overlap(const ExecutionSpace& space, const StridedMatrix<const T>& S, bool upper,
                        const Values<int>& exponents) {
  const Dense<T> scaled = whole<T, T>(space, S, upper);
  scale_both<T>(space, scaled, exponents, 0);
  return scaled;
}

template <Scalar T> PivotedCholesky factor_overlap(const ExecutionSpace& space, const Dense<T>& S, double least_share) {
  const PivotedCholesky factor = pivoted_cholesky<T>(space, S, least_share);
  require(factor.failed < 0, "eigen::jacobi: S is not positive definite: pivot ", factor.failed,
          " of its Cholesky factorization, in row ", factor.row, " (both counted from 0), is ", factor.share,
          " of its diagonal element; expected more than ", least_share);
  return factor;
}

template <Scalar T>
FactoredMatrix<T>::FactoredMatrix(const ExecutionSpace& space, const Dense<T>& L, const std::vector<Index>& order)
    : space_(space), L_(L), order_(order), at_(on_device(space, "heddle::eigen::order", order)) {}

template <Scalar T> Dense<T> FactoredMatrix<T>::reduced(const Dense<T>& H) const {
  const auto n = static_cast<Index>(H.extent(0));
  const Dense<T> half = permuted<T>(space_, H, at_);
  solve_triangular<T>(space_, Triangle::lower, L_, half);
  const Dense<T> M = adjoint<T>(space_, half);
  solve_triangular<T>(space_, Triangle::lower, L_, M);
  for_each_element(
      space_, "heddle::eigen::hermitian", n, n, KOKKOS_LAMBDA(Index i, Index j) {
        if (i == j) {
          M(i, i) = T(real_part(M(i, i)));
        } else if (i < j) {
          M(i, j) = conjugate(M(j, i));
        }
      });
  return M;
}

template <Scalar T>
void FactoredMatrix<T>::reduce_factor(const Dense<T>& G, const std::vector<Index>& rows, const MatrixView<T>& X) const {
  std::vector<Index> places(rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    places[static_cast<std::size_t>(rows[r])] = static_cast<Index>(r);
  }
  std::vector<Index> from;
  for (const Index row : order_) {
    from.push_back(places[static_cast<std::size_t>(row)]);
  }
  const Values<Index> at = on_device(space_, "heddle::eigen::rows", from);
  const auto n = static_cast<Index>(G.extent(0));
  for_each_element(
      space_, "heddle::eigen::permuted", n, n, KOKKOS_LAMBDA(Index i, Index j) { X(i, j) = G(at(i), j); });
  solve_triangular<T>(space_, Triangle::lower, L_, X);
}

template <Scalar T> void FactoredMatrix<T>::expand(const MatrixView<T>& U, const Dense<T>& C) const {
  const auto n = static_cast<Index>(U.extent(0));
  solve_triangular<T>(space_, Triangle::upper, adjoint<T>(space_, L_), U);
  const Values<Index> at = at_;
  for_each_element(
      space_, "heddle::eigen::expanded", n, static_cast<Index>(U.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { C(at(i), j) = U(i, j); });
}

template <Scalar T> Dense<T> FactoredMatrix<T>::contract(const Dense<T>& C) const {
  const auto n = static_cast<Index>(L_.extent(0));
  const Dense<T> ordered = dense<T>(space_, "heddle::eigen::ordered", n, n);
  const Dense<T> U = dense<T>(space_, "heddle::eigen::contracted", n, n);
  const Values<Index> at = at_;
  for_each_element(
      space_, "heddle::eigen::ordered", n, n, KOKKOS_LAMBDA(Index i, Index j) { ordered(i, j) = C(at(i), j); });
  blas::gemm<T>(blas::Context(space_), Operation::conjugate_transpose, Operation::none, T(1), L_, ordered, T(0), U);
  return U;
}

#define HEDDLE_INSTANTIATE(T)                                                                                          \
  template Pencil<T> scaled_pencil<T>(const ExecutionSpace&, const StridedMatrix<const T>&,                            \
                                      const StridedMatrix<const T>&, bool);                                            \
  template Dense<T> scaled_overlap<T>(const ExecutionSpace&, const StridedMatrix<const T>&, bool, const Values<int>&); \
  template PivotedCholesky factor_overlap<T>(const ExecutionSpace&, const Dense<T>&, double);                          \
  template class FactoredMatrix<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
