#include "eigen/dense/dense.hpp"

#include "core/instantiate.hpp"
#include "dist/elementwise.hpp"
#include <heddle/exact/expansion.hpp>

#include <algorithm>
#include <cmath>

#ifdef __FAST_MATH__
#error "eigen/dense.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::eigen::impl {
namespace {

using heddle::impl::for_each_element;
using heddle::impl::on_host;

using Teams = Kokkos::TeamPolicy<ExecutionSpace>;
using Team = Teams::member_type;

// A team for each of `count` columns: one thread of a CPU, 128 of a GPU.
Teams column_teams(const ExecutionSpace& space, Index count) {
  return on_host ? Teams(space, static_cast<int>(count), 1) : Teams(space, static_cast<int>(count), 4, 32);
}

template <Scalar T> KOKKOS_INLINE_FUNCTION Real<T> largest_part(const T& x) {
  if constexpr (is_complex<T>) {
    return Kokkos::fmax(Kokkos::abs(x.real()), Kokkos::abs(x.imag()));
  } else {
    return Kokkos::abs(x);
  }
}

template <Scalar T> KOKKOS_INLINE_FUNCTION double square_of(const T& x) {
  if constexpr (is_complex<T>) {
    const double re = x.real();
    const double im = x.imag();
    return re * re + im * im;
  } else {
    return static_cast<double>(x) * static_cast<double>(x);
  }
}
template <Scalar T> KOKKOS_INLINE_FUNCTION bool is_finite(const T& x) {
  if constexpr (is_complex<T>) {
    return Kokkos::isfinite(x.real()) && Kokkos::isfinite(x.imag());
  } else {
    return Kokkos::isfinite(x);
  }
}

}  // namespace

template <Scalar T> Scaled<T> scaled(const ExecutionSpace& space, const StridedMatrix<const T>& A, bool upper) {
  using R = Real<T>;
  const auto n = static_cast<Index>(A.extent(0));
  Scaled<T> result;
  const Dense<T> S = dense<T>(space, "heddle::eigen::matrix", n, n);
  result.matrix = S;
  R largest = 0;
  R off = 0;
  R least = 0;
  int bad = 0;
  Kokkos::parallel_reduce(
      "heddle::eigen::largest_element", column_teams(space, n),
      KOKKOS_LAMBDA(const Team& team, R& most, R& most_off, R& least_diagonal, int& count) {
        const Index j = team.league_rank();
        R mine = 0;
        R mine_off = 0;
        int not_finite = 0;
        const Index begin = upper ? 0 : j;
        const Index end = upper ? j + 1 : n;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, begin, end),
            [&](Index i, R& here, R& here_off, int& wrong) {
              const T value = i == j ? T(real_part(A(i, j))) : A(i, j);
              const R size = largest_part(value);
              wrong += is_finite(value) ? 0 : 1;
              here = Kokkos::fmax(here, size);
              here_off = i == j ? here_off : Kokkos::fmax(here_off, size);
            },
            Kokkos::Max<R>(mine), Kokkos::Max<R>(mine_off), Kokkos::Sum<int>(not_finite));
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          most = Kokkos::fmax(most, mine);
          most_off = Kokkos::fmax(most_off, mine_off);
          least_diagonal = Kokkos::fmin(least_diagonal, real_part(A(j, j)));
          count += not_finite;
        });
      },
      Kokkos::Max<R>(largest), Kokkos::Max<R>(off), Kokkos::Min<R>(least), Kokkos::Sum<int>(bad));
  require(bad == 0, "eigen: A has ", bad, " elements that are NaN or infinite in the triangle that is read");
  result.diagonal = !(off > 0);
  result.exponent = largest > 0 ? std::ilogb(largest) + 1 : 0;
  result.spread = least > 0 ? std::ilogb(largest) - std::ilogb(least) : 0;
  // In two steps, neither of which over- or underflows on its own.
  const R first = std::ldexp(R(1), -result.exponent / 2);
  const R second = std::ldexp(R(1), -(result.exponent - result.exponent / 2));
  for_each_element(
      space, "heddle::eigen::scaled", n, n, KOKKOS_LAMBDA(Index i, Index j) {
        const bool here = upper ? i <= j : i >= j;
        const T value = here ? A(i, j) : conjugate(A(j, i));
        S(i, j) = (i == j ? T(real_part(value)) : value) * first * second;
      });
  return result;
}

template <Scalar T> std::vector<Real<T>> diagonal_of(const ExecutionSpace& space, const StridedMatrix<const T>& A) {
  const auto n = A.extent(0);
  const Values<Real<T>> diagonal(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::diagonal"), n);
  Kokkos::parallel_for(
      "heddle::eigen::diagonal", Kokkos::RangePolicy<ExecutionSpace>(space, 0, n),
      KOKKOS_LAMBDA(Index i) { diagonal(i) = real_part(A(i, i)); });
  std::vector<Real<T>> host(n);
  Kokkos::deep_copy(space, Kokkos::View<Real<T>*, Kokkos::HostSpace>(host.data(), n), diagonal);
  space.fence("heddle::eigen::diagonal");
  return host;
}

template <Scalar T>
void permuted(const ExecutionSpace& space, const Dense<T>& A, const std::vector<Index>& order, const Dense<T>& B) {
  const auto at = on_device(space, "heddle::eigen::order", order);
  const auto n = static_cast<Index>(A.extent(0));
  for_each_element(
      space, "heddle::eigen::permuted", n, n, KOKKOS_LAMBDA(Index i, Index j) { B(i, j) = A(at(i), at(j)); });
}

template <Scalar T> bool cholesky(const ExecutionSpace& space, const Dense<T>& A) {
  using R = Real<T>;
  const auto n = static_cast<Index>(A.extent(0));
  constexpr Index block = 32;
  const Kokkos::View<int, MemorySpace> failed(Kokkos::view_alloc(space, "heddle::eigen::cholesky_failed"));
  for (Index begin = 0; begin < n; begin += block) {
    const Index end = std::min(begin + block, n);
    Kokkos::parallel_for(
        "heddle::eigen::cholesky_diagonal", on_host ? Teams(space, 1, 1) : Teams(space, 1, 1, 32),
        KOKKOS_LAMBDA(const Team& team) {
          for (Index j = begin; j < end; ++j) {
            const R pivot = real_part(A(j, j));
            team.team_barrier();
            if (!(pivot > 0)) {
              Kokkos::single(Kokkos::PerTeam(team), [&] { failed() = 1; });
              return;
            }
            const R root = Kokkos::sqrt(pivot);
            Kokkos::parallel_for(Kokkos::TeamVectorRange(team, j, end),
                                 [&](Index i) { A(i, j) = i == j ? T(root) : A(i, j) / root; });
            team.team_barrier();
            for (Index k = j + 1; k < end; ++k) {
              const T factor = -conjugate(A(k, j));
              Kokkos::parallel_for(Kokkos::TeamVectorRange(team, k, end),
                                   [&](Index i) { A(i, k) = multiply_add<T>(A(i, j), factor, A(i, k)); });
            }
            team.team_barrier();
          }
        });
    // Rows below: X L^H = A.
    Kokkos::parallel_for(
        "heddle::eigen::cholesky_panel", Kokkos::RangePolicy<ExecutionSpace>(space, end, n), KOKKOS_LAMBDA(Index i) {
          for (Index j = begin; j < end; ++j) {
            T sum = A(i, j);
            for (Index k = begin; k < j; ++k) {
              sum = multiply_add<T>(-A(i, k), conjugate(A(j, k)), sum);
            }
            A(i, j) = sum / real_part(A(j, j));
          }
        });
    Kokkos::parallel_for(
        "heddle::eigen::cholesky_rest", column_teams(space, n - end), KOKKOS_LAMBDA(const Team& team) {
          const Index j = end + team.league_rank();
          constexpr Index at_once = 8;
          for (Index k = begin; k < end; k += at_once) {
            const Index last = k + at_once < end ? k + at_once : end;
            Kokkos::parallel_for(Kokkos::TeamVectorRange(team, j, n), [&](Index i) {
              T sum = A(i, j);
              for (Index at = k; at < last; ++at) {
                sum = multiply_add<T>(A(i, at), -conjugate(A(j, at)), sum);
              }
              A(i, j) = sum;
            });
          }
        });
  }
  for_each_element(
      space, "heddle::eigen::lower", n, n, KOKKOS_LAMBDA(Index i, Index j) {
        if (i < j) {
          A(i, j) = T(0);
        }
      });
  int result = 0;
  Kokkos::deep_copy(space, Kokkos::View<int, Kokkos::HostSpace>(&result), failed);
  space.fence("heddle::eigen::cholesky");
  return result == 0;
}

template <Scalar T> Real<T> norm_estimate(const ExecutionSpace& space, const Dense<T>& A) {
  using R = Real<T>;
  const auto n = static_cast<Index>(A.extent(0));
  const Kokkos::View<T*, MemorySpace> x(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::x"), n);
  const Kokkos::View<T*, MemorySpace> y(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::y"), n);
  const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), y);
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  for (Index i = 0; i < n; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    host(i) = T(static_cast<R>(static_cast<double>(state >> 11) * 0x1p-53 - 0.5));
  }
  R estimate = 0;
  constexpr int steps = 12;
  for (int step = 0; step <= steps; ++step) {
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
      const auto size = static_cast<double>(magnitude(host(i)));
      sum += size * size;
    }
    const auto norm = static_cast<R>(std::sqrt(sum));
    if (step > 0) {
      estimate = std::max(estimate, norm);
    }
    if (step == steps || norm == 0) {
      break;
    }
    for (Index i = 0; i < n; ++i) {
      host(i) = host(i) / norm;
    }
    Kokkos::deep_copy(space, x, host);
    Kokkos::parallel_for(
        "heddle::eigen::product", column_teams(space, n), KOKKOS_LAMBDA(const Team& team) {
          const Index j = team.league_rank();
          T inner = T(0);
          Kokkos::parallel_reduce(
              Kokkos::TeamVectorRange(team, n), [&](Index i, T& part) { part += conjugate(A(i, j)) * x(i); }, inner);
          Kokkos::single(Kokkos::PerTeam(team), [&] { y(j) = inner; });
        });
    Kokkos::deep_copy(space, host, y);
    space.fence("heddle::eigen::norm_estimate");
  }
  return estimate;
}

template <Scalar T> Real<T> largest_cosine(const blas::Context& context, const MatrixView<T>& X) {
  using R = Real<T>;
  const ExecutionSpace& space = context.space();
  const auto n = static_cast<Index>(X.extent(1));
  const Dense<T> G = dense<T>(space, "heddle::eigen::inner_products", n, n);
  blas::gemm<T>(context, Operation::conjugate_transpose, Operation::none, T(1), X, X, T(0), G);
  R worst = 0;
  Kokkos::parallel_reduce(
      "heddle::eigen::largest_cosine", column_teams(space, n),
      KOKKOS_LAMBDA(const Team& team, R& most) {
        const Index j = team.league_rank();
        R mine = 0;
        const R length = Kokkos::sqrt(real_part(G(j, j)));
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, j),
            [&](Index i, R& here) {
              const R size = magnitude(G(i, j));
              here = Kokkos::fmax(here, size > 0 ? size / (length * Kokkos::sqrt(real_part(G(i, i)))) : R(0));
            },
            Kokkos::Max<R>(mine));
        Kokkos::single(Kokkos::PerTeam(team), [&] { most = Kokkos::fmax(most, mine); });
      },
      Kokkos::Max<R>(worst));
  return std::max(worst, R(0));
}

template <Scalar T> bool orthonormalise(const blas::Context& context, const Dense<T>& Q) {
  using R = Real<T>;
  const ExecutionSpace& space = context.space();
  const auto n = static_cast<Index>(Q.extent(1));
  const Dense<T> G = dense<T>(space, "heddle::eigen::inner_products", n, n);
  Dense<T> next;
  const R enough = static_cast<R>(n) * unit_roundoff<T> / 8 + 4 * unit_roundoff<T>;
  R before = 1;
  while (true) {
    blas::gemm<T>(context, Operation::conjugate_transpose, Operation::none, T(1), Q, Q, T(0), G);
    R worst = 0;
    Kokkos::parallel_reduce(
        "heddle::eigen::orthogonality", column_teams(space, n),
        KOKKOS_LAMBDA(const Team& team, R& most) {
          const Index j = team.league_rank();
          R mine = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamVectorRange(team, n),
              [&](Index i, R& here) { here = Kokkos::fmax(here, magnitude(T(G(i, j) - (i == j ? T(1) : T(0))))); },
              Kokkos::Max<R>(mine));
          Kokkos::single(Kokkos::PerTeam(team), [&] { most = Kokkos::fmax(most, mine); });
        },
        Kokkos::Max<R>(worst));
    if (worst <= enough) {
      return true;
    }
    // It converges quadratically from less than 1 in the 2-norm; from more, or where rounding stops it, not.
    if (!(worst < before / 2)) {
      return worst <= 8 * enough;
    }
    before = worst;
    for_each_element(
        space, "heddle::eigen::newton_schulz", n, n,
        KOKKOS_LAMBDA(Index i, Index j) { G(i, j) = (i == j ? T(R(1.5)) : T(0)) - G(i, j) * R(0.5); });
    if (next.size() == 0) {
      next = dense<T>(space, "heddle::eigen::next_vectors", static_cast<Index>(Q.extent(0)), n);
    }
    blas::gemm<T>(context, Operation::none, Operation::none, T(1), Q, G, T(0), next);
    Kokkos::deep_copy(space, Q, next);
  }
}

namespace {

// sum += a b in twice the precision; of complex numbers, each part by two products.
template <RealScalar R> KOKKOS_INLINE_FUNCTION void add_product(R& sum, R& rest, R a, R b) {
  R product = a;
  R error = b;
  exact::two_product(product, error);
  R carried = product;
  exact::two_sum(sum, carried);
  rest += carried + error;
}

// Inner products of some rows, in twice the precision.
template <Scalar T, int rows> struct DoubledSums {
  using R = Real<T>;
  static constexpr int parts = is_complex<T> ? 2 : 1;
  R sum[parts][rows] = {};
  R rest[parts][rows] = {};

  KOKKOS_INLINE_FUNCTION void add(int i, const T& a, const T& b, const T& b_rest) {
    if constexpr (is_complex<T>) {
      add_product(sum[0][i], rest[0][i], a.real(), b.real());
      add_product(sum[0][i], rest[0][i], -a.imag(), b.imag());
      add_product(sum[1][i], rest[1][i], a.real(), b.imag());
      add_product(sum[1][i], rest[1][i], a.imag(), b.real());
      const T more = a * b_rest;
      rest[0][i] += more.real();
      rest[1][i] += more.imag();
    } else {
      add_product(sum[0][i], rest[0][i], a, b);
      rest[0][i] += a * b_rest;
    }
  }
  /// The sum, rounded; `left` is what that lost.
  KOKKOS_INLINE_FUNCTION T get(int i, T& left) {
    for (int part = 0; part < parts; ++part) {
      exact::two_sum(sum[part][i], rest[part][i]);
    }
    if constexpr (is_complex<T>) {
      left = T(rest[0][i], rest[1][i]);
      return T(sum[0][i], sum[1][i]);
    } else {
      left = rest[0][i];
      return sum[0][i];
    }
  }
};

// C + C_rest = A (B + B_rest).
template <Scalar T>
void doubled_product(const ExecutionSpace& space, const Dense<T>& A, const Dense<T>& B, const Dense<T>& B_rest,
                     const Dense<T>& C, const Dense<T>& C_rest) {
  const auto m = static_cast<Index>(A.extent(0));
  const auto inner = static_cast<Index>(A.extent(1));
  const auto n = static_cast<Index>(B.extent(1));
  const bool has_rest = B_rest.size() > 0;
  const bool wants_rest = C_rest.size() > 0;
  constexpr int rows = on_host ? 32 : 1;
  const Index chunks = (m + rows - 1) / rows;
  Kokkos::parallel_for(
      "heddle::eigen::doubled_product",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, chunks * n), KOKKOS_LAMBDA(Index at) {
        const Index j = at / chunks;
        const Index begin = at % chunks * rows;
        const int count = m - begin < rows ? static_cast<int>(m - begin) : rows;
        DoubledSums<T, rows> sums;
        for (Index k = 0; k < inner; ++k) {
          const T b = B(k, j);
          const T b_rest = has_rest ? B_rest(k, j) : T(0);
          const T* const a = &A(begin, k);
#ifdef __GNUC__
#pragma GCC ivdep
#endif
          for (int i = 0; i < count; ++i) {
            sums.add(i, a[i], b, b_rest);
          }
        }
        for (int i = 0; i < count; ++i) {
          T left;
          C(begin + i, j) = sums.get(i, left);
          if (wants_rest) {
            C_rest(begin + i, j) = left;
          }
        }
      });
}

}  // namespace

template <Scalar T>
void transformed(const ExecutionSpace& space, const Dense<T>& A, const Dense<T>& Q, const Dense<T>& M) {
  const auto n = static_cast<Index>(A.extent(0));
  const Dense<T> Y = dense<T>(space, "heddle::eigen::product", n, n);
  const Dense<T> Y_rest = dense<T>(space, "heddle::eigen::product_rest", n, n);
  const Dense<T> adjoint = dense<T>(space, "heddle::eigen::adjoint", n, n);
  doubled_product<T>(space, A, Q, Dense<T>(), Y, Y_rest);
  for_each_element(
      space, "heddle::eigen::adjoint", n, n, KOKKOS_LAMBDA(Index i, Index j) { adjoint(i, j) = conjugate(Q(j, i)); });
  doubled_product<T>(space, adjoint, Y, Y_rest, M, Dense<T>());
}

template <Scalar T> std::vector<double> column_norms(const ExecutionSpace& space, const MatrixView<T>& A) {
  const auto m = static_cast<Index>(A.extent(0));
  const auto n = A.extent(1);
  const Values<double> squares(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::squares"), n);
  Kokkos::parallel_for(
      "heddle::eigen::column_norms", column_teams(space, static_cast<Index>(n)), KOKKOS_LAMBDA(const Team& team) {
        const Index j = team.league_rank();
        double sum = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, m), [&](Index i, double& part) { part += square_of(A(i, j)); }, sum);
        Kokkos::single(Kokkos::PerTeam(team), [&] { squares(j) = sum; });
      });
  std::vector<double> norms(n);
  Kokkos::deep_copy(space, Kokkos::View<double*, Kokkos::HostSpace>(norms.data(), n), squares);
  space.fence("heddle::eigen::column_norms");
  for (double& norm : norms) {
    norm = std::sqrt(norm);
  }
  return norms;
}

template <Scalar T>
void gathered(const ExecutionSpace& space, const MatrixView<T>& A, const std::vector<Index>& row,
              const std::vector<Index>& order, const std::vector<double>& factor, const StridedMatrix<T>& V) {
  const auto rows = on_device(space, "heddle::eigen::rows", row);
  const auto at = on_device(space, "heddle::eigen::order", order);
  const auto factors = on_device(space, "heddle::eigen::factors", factor);
  const bool moved = !row.empty();
  for_each_element(
      space, "heddle::eigen::vectors", static_cast<Index>(A.extent(0)), static_cast<Index>(order.size()),
      KOKKOS_LAMBDA(Index i, Index j) { V(moved ? rows(i) : i, j) = A(i, at(j)) * static_cast<Real<T>>(factors(j)); });
}

#define HEDDLE_INSTANTIATE(T)                                                                                    \
  template Scaled<T> scaled<T>(const ExecutionSpace&, const StridedMatrix<const T>&, bool);                      \
  template std::vector<Real<T>> diagonal_of<T>(const ExecutionSpace&, const StridedMatrix<const T>&);            \
  template void permuted<T>(const ExecutionSpace&, const Dense<T>&, const std::vector<Index>&, const Dense<T>&); \
  template bool cholesky<T>(const ExecutionSpace&, const Dense<T>&);                                             \
  template Real<T> norm_estimate<T>(const ExecutionSpace&, const Dense<T>&);                                     \
  template bool orthonormalise<T>(const blas::Context&, const Dense<T>&);                                        \
  template Real<T> largest_cosine<T>(const blas::Context&, const MatrixView<T>&);                                \
  template void transformed<T>(const ExecutionSpace&, const Dense<T>&, const Dense<T>&, const Dense<T>&);        \
  template std::vector<double> column_norms<T>(const ExecutionSpace&, const MatrixView<T>&);                     \
  template void gathered<T>(const ExecutionSpace&, const MatrixView<T>&, const std::vector<Index>&,              \
                            const std::vector<Index>&, const std::vector<double>&, const StridedMatrix<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
