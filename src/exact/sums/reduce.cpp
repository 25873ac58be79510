// Correctly rounded sums, inner products and norms of vectors.
#include "core/instantiate.hpp"
#include "dist/copies.hpp"
#include "exact/sums/algorithms.hpp"
#include "exact/sums/arithmetic.hpp"
#include "exact/sums/reductions.hpp"
#include "exact/sums/root.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <array>

#ifdef __FAST_MATH__
#error "exact/sums/reduce.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact::compiled {

using namespace impl;
namespace {

template <RealScalar T, class Terms> T reduced(const ExecutionSpace& space, const Terms& terms, Index n) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::reduce");
  const DefaultArithmetic arithmetic;
  T rounded = 0;
  if (n == 0 || rounds_quickly(space, terms, n, rounded)) {
    return rounded;
  }
  return accumulated(space, terms, n).template value<T>();
}

// Returns true if every term is -0, which expansions do not record.
template <class Terms> bool all_negative_zeros(const ExecutionSpace& space, const Terms& terms, Index n) {
  Index others = 0;
  Kokkos::parallel_reduce(
      "heddle::exact::zeros", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, n),
      KOKKOS_LAMBDA(Index k, Index & count) { count += terms.is_negative_zero(k) ? 0 : 1; }, others);
  return n > 0 && others == 0;
}

template <int levels, RealScalar T, class Terms>
T reduced_in_full(const ExecutionSpace& space, const Terms& terms, Index n) {
  const Accumulator<double> sum = accumulated_by<levels>(space, terms, n);
  const T value = sum.value<T>();
  return value == T(0) && sum.sign() == 0 && all_negative_zeros(space, terms, n) ? -T(0) : value;
}

// Reduces terms with every term and every sum rounded.
template <RealScalar T, class Terms> T reduced_plainly(const ExecutionSpace& space, const Terms& terms, Index n) {
  T sum = T(0);
  if constexpr (on_host) {
    const Index parts = std::clamp<Index>(n / 4096, 1, space.concurrency());
    Kokkos::parallel_reduce(
        "heddle::exact::plain", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, parts),
        [=](Index part, T& mine) { mine += plain_range(terms, n * part / parts, n * (part + 1) / parts); }, sum);
  } else {
    Kokkos::parallel_reduce(
        "heddle::exact::plain", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, n),
        KOKKOS_LAMBDA(Index k, T & mine) { mine += terms.rounded(k); }, sum);
  }
  return sum;
}

// Reduces terms by an algorithm other than Algorithm::automatic.
template <RealScalar T, class Terms>
T reduced_by(Algorithm algorithm, const ExecutionSpace& space, const Terms& terms, Index n) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::reduce");
  const DefaultArithmetic arithmetic;
  if (algorithm == Algorithm::plain) {
    return reduced_plainly<T>(space, terms, n);
  }
  if (algorithm == Algorithm::twice) {
    const Compensated sum = compensated(space, terms, n);
    return static_cast<T>(rounded_sum(sum.sum, sum.lost));
  }
  return with_levels(algorithm,
                     [&](auto levels) { return reduced_in_full<decltype(levels)::value, T>(space, terms, n); });
}

// Returns x, or a contiguous copy.
template <Scalar T>
Kokkos::View<const T*, MemorySpace> dense(const ExecutionSpace& space, const StridedVector<const T>& x) {
  if (x.extent(0) <= 1 || x.stride(0) == 1) {
    return Kokkos::View<const T*, MemorySpace>(x.data(), x.extent(0));
  }
  const Kokkos::View<T*, MemorySpace> copy(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::x"),
                                           x.extent(0));
  heddle::impl::copy_vector<T>(space, x, strided(copy));
  return copy;
}

template <Scalar T> T sum_by(Algorithm algorithm, const ExecutionSpace& space, const StridedVector<const T>& x) {
  using R = Real<T>;
  const Kokkos::View<const T*, MemorySpace> given = dense(space, x);
  std::array<R, parts_of_scalar<T>> parts;
  for (int p = 0; p < parts_of_scalar<T>; ++p) {
    // One part of complex numbers is every second real number.
    const auto numbers = dense<R>(space, StridedVector<const R>(reinterpret_cast<const R*>(given.data()) + p,
                                                                Kokkos::LayoutStride(x.extent(0), parts_of_scalar<T>)));
    parts[static_cast<std::size_t>(p)] =
        reduced_by<R>(algorithm, space, Numbers<R, false, true>{numbers.data(), 1}, static_cast<Index>(x.extent(0)));
  }
  return scalar_of<T>(parts);
}

template <Scalar T>
T dot_by(Algorithm algorithm, const ExecutionSpace& space, const StridedVector<const T>& x,
         const StridedVector<const T>& y, bool conjugated) {
  const Kokkos::View<const T*, MemorySpace> left = dense(space, x);
  const Kokkos::View<const T*, MemorySpace> right = dense(space, y);
  std::array<Real<T>, parts_of_scalar<T>> parts;
  for (int p = 0; p < parts_of_scalar<T>; ++p) {
    parts[static_cast<std::size_t>(p)] =
        with_dense_products(left.data(), right.data(), p, conjugated, [&](const auto& terms) {
          return reduced_by<Real<T>>(algorithm, space, terms, static_cast<Index>(x.extent(0)) * parts_of_scalar<T>);
        });
  }
  return scalar_of<T>(parts);
}

}  // namespace

template <Scalar T> T sum(const ExecutionSpace& space, const StridedVector<const T>& x, Algorithm algorithm) {
  if (algorithm != Algorithm::automatic) {
    return sum_by<T>(algorithm, space, x);
  }
  std::array<Real<T>, parts_of_scalar<T>> parts;
  for (int p = 0; p < parts_of_scalar<T>; ++p) {
    parts[static_cast<std::size_t>(p)] = with_numbers<false>(
        x, p, [&](const auto& terms) { return reduced<Real<T>>(space, terms, static_cast<Index>(x.extent(0))); });
  }
  return scalar_of<T>(parts);
}

template <Scalar T> Real<T> asum(const ExecutionSpace& space, const StridedVector<const T>& x) {
  const auto n = static_cast<Index>(x.extent(0));
  if constexpr (is_complex<T>) {
    // Real and imaginary parts form one contiguous vector.
    const Kokkos::View<const T*, MemorySpace> row = dense(space, x);
    return reduced<Real<T>>(space, Numbers<Real<T>, true, true>{reinterpret_cast<const Real<T>*>(row.data()), 1},
                            2 * n);
  } else {
    return with_numbers<true>(x, 0, [&](const auto& terms) { return reduced<T>(space, terms, n); });
  }
}

template <Scalar T>
T dot(const ExecutionSpace& space, const StridedVector<const T>& x, const StridedVector<const T>& y, bool conjugated,
      Algorithm algorithm) {
  require(x.extent(0) == y.extent(0), "exact::dot: vectors of ", x.extent(0), " and ", y.extent(0), " elements");
  if (algorithm != Algorithm::automatic) {
    return dot_by<T>(algorithm, space, x, y, conjugated);
  }
  std::array<Real<T>, parts_of_scalar<T>> parts;
  for (int p = 0; p < parts_of_scalar<T>; ++p) {
    parts[static_cast<std::size_t>(p)] =
        with_products(x.data(), static_cast<Index>(x.stride(0)), y.data(), static_cast<Index>(y.stride(0)), p,
                      conjugated, [&](const auto& terms) {
                        return reduced<Real<T>>(space, terms, static_cast<Index>(x.extent(0)) * parts_of_scalar<T>);
                      });
  }
  return scalar_of<T>(parts);
}

template <Scalar T> Real<T> nrm2(const ExecutionSpace& space, const StridedVector<const T>& x) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::nrm2");
  const DefaultArithmetic arithmetic;
  // The real part of conj(x) x.
  const auto stride = static_cast<Index>(x.stride(0));
  const auto n = static_cast<Index>(x.extent(0)) * parts_of_scalar<T>;
  return with_products(x.data(), stride, x.data(), stride, 0, true, [&]<class Terms>(const Terms& squares) {
    Real<T> root = 0;
    if (n == 0 || square_root(compensated(space, squares, n), additions_in_a_row(n), lost_in<Terms>(n), root)) {
      return root;
    }
    return SquareRoot::of<Real<T>>(accumulated(space, squares, n));
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                                  \
  template T sum<T>(const ExecutionSpace&, const StridedVector<const T>&, Algorithm);                          \
  template Real<T> asum<T>(const ExecutionSpace&, const StridedVector<const T>&);                              \
  template T dot<T>(const ExecutionSpace&, const StridedVector<const T>&, const StridedVector<const T>&, bool, \
                    Algorithm);                                                                                \
  template Real<T> nrm2<T>(const ExecutionSpace&, const StridedVector<const T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact::compiled
