// Householder's reflections of many matrices at once: H = I - tau v v^H, whose v lie in the columns of a matrix.
#pragma once

#include "eigen/batched/batched_columns.hpp"
#include "eigen/dense/rotation.hpp"

#include <limits>

namespace heddle::eigen::impl {

template <class T> using Matrices = Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace>;
template <class T> using Vectors = Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace>;

/// The sum of term(i) for begin <= i < end, several sums at a time, so that a host's compiler can keep them in vectors.
template <Scalar T, class Term> KOKKOS_FORCEINLINE_FUNCTION T sum_in_parts(int begin, int end, const Term& term) {
  constexpr int parts = is_complex<T> ? 8 : 16;
  T part[parts] = {};
  int i = begin;
  for (; i + parts <= end; i += parts) {
    for (int at = 0; at < parts; ++at) {
      part[at] += term(i + at);
    }
  }
  for (; i < end; ++i) {
    part[0] += term(i);
  }
  T sum = T(0);
  for (const T& one : part) {
    sum += one;
  }
  return sum;
}
/// The same over the vector of a thread, which all of it get; term may write what no other one reads.
template <Scalar T, class Team, class Term>
KOKKOS_FORCEINLINE_FUNCTION T vector_sum([[maybe_unused]] const Team& team, int begin, int end, const Term& term) {
  T sum = T(0);
  KOKKOS_IF_ON_HOST((sum = sum_in_parts<T>(begin, end, term);))
  KOKKOS_IF_ON_DEVICE(
      (Kokkos::parallel_reduce(
           Kokkos::ThreadVectorRange(team, begin, end), [&](int i, T& part) { part += term(i); }, sum);))
  return sum;
}

template <Scalar T> KOKKOS_INLINE_FUNCTION Real<T> square_of_size(const T& x) {
  const Real<T> re = real_of<Real<T>>(x);
  const Real<T> im = imaginary_of<Real<T>>(x);
  return re * re + im * im;
}

/// Householder reflector that makes (alpha, x) a multiple of the first unit vector: H^H (alpha, x) = (beta, 0), v = (1,
/// x inverse).
template <Scalar T> struct Reflector {
  T tau = T(0);
  T inverse = T(0);
  Real<T> beta = 0;
};
/// `square`: |alpha|^2 + |x|^2. Vectors so small that squares underflow, in part or whole, count as zero: they are
/// negligible beside a matrix of norm 1.
template <Scalar T> KOKKOS_INLINE_FUNCTION Reflector<T> reflector_of(const T& alpha, Real<T> square) {
  using R = Real<T>;
  constexpr R least = std::numeric_limits<R>::digits > 24 ? R(1e-280) : R(1e-30);
  if (!(square > least)) {
    return {};
  }
  const R root = Kokkos::sqrt(square);
  const R beta = real_part(alpha) > 0 ? -root : root;
  return {(T(beta) - alpha) / beta, T(1) / (alpha - T(beta)), beta};
}

template <Scalar T> struct ApplyReflectors {
  Matrices<T> v;
  Vectors<T> tau;
  Matrices<T> C;
  Values<int> chosen;
  int rows;
  int count;
  int offset;
  bool of_identity;
  KOKKOS_INLINE_FUNCTION void operator()(const MatrixTeam& team, int at, int j) const {
    const int slot = chosen(at);
    const int last = of_identity && j - offset + 1 < count ? j - offset + 1 : count;
    T* const u = &C(0, j, slot);
    for (int k = last - 1; k >= 0; --k) {
      const T by = tau(k, slot);
      if (by == T(0)) {
        continue;
      }
      const T* const x = &v(0, k, slot);
      const T factor = -by * vector_sum<T>(team, k + offset, rows, [&](int i) { return conjugate(x[i]) * u[i]; });
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, k + offset, rows),
                           [&](int i) { u[i] = multiply_add<T>(factor, x[i], u[i]); });
    }
  }
};

/// C = H_0 H_1 ... C for each chosen matrix: `count` reflections, of which H_k turns rows k + offset ... rows - 1 and
/// has its v there, the 1 included, in column k. With `of_identity` C is an identity on entry, which is not multiplied
/// where it stays one.
template <Scalar T>
void apply_reflectors(const ExecutionSpace& space, const Matrices<T>& v, const Vectors<T>& tau, const Matrices<T>& C,
                      const Values<int>& chosen, int rows, int count, int offset, int columns, bool of_identity) {
  for_each_column(space, "heddle::eigen::apply_reflectors", static_cast<int>(chosen.extent(0)), columns,
                  ApplyReflectors<T>{v, tau, C, chosen, rows, count, offset, of_identity});
}

}  // namespace heddle::eigen::impl
