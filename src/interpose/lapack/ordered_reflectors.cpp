// QR factorizations reflector after reflector, by sums of eight partial sums.
#include "interpose/lapack/ordered_reflectors.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/eigen/fixed_order.hpp"
#include "interpose/lapack/reflectors.hpp"

namespace heddle::impl::interpose {
namespace {

constexpr Index reflectors_at_once = 16;

// Reflectors `begin` ... `end` - 1 of what A holds, on columns that have all of its rows: the last first, or, adjoint,
// the first one first.
template <Scalar T> struct Group {
  Index rows;
  Index begin;
  Index end;
  const T* A;
  Index leading;
  const T* tau;

  void apply(bool adjoint, Index columns, T* C, Index leading_c) const {
    constexpr Index worth = 100000;
    const Index operations = columns * (rows - begin) * (end - begin);
    const auto threads = static_cast<int>(std::min<Index>(usual_threads(), operations / worth + 1));
    in_parts(columns, threads, [&](Index first, Index last) {
      for (Index j = first; j < last; ++j) {
        T* const column = C + j * leading_c;
        for (Index k = 0; k < end - begin; ++k) apply_one(adjoint ? begin + k : end - 1 - k, adjoint, column);
      }
    });
  }

 private:
  void apply_one(Index k, bool adjoint, T* column) const {
    if (tau[k] == T{0}) return;
    const T* const v = A + k + k * leading;
    T* const c = column + k;
    const Index below = rows - k - 1;
    const T sum = c[0] + fixed_dot(below, v + 1, c + 1);
    const T factor = product(adjoint ? conjugate(tau[k]) : tau[k], sum);
    c[0] -= factor;
    for (Index i = 1; i <= below; ++i) c[i] -= product(v[i], factor);
  }
};

}  // namespace

template <Scalar T> void ordered_geqrf(Index m, Index n, T* A, Index leading, T* tau) {
  const Arithmetic arithmetic;
  for (Index begin = 0; begin < n; begin += reflectors_at_once) {
    const Index end = std::min(n, begin + reflectors_at_once);
    for (Index k = begin; k < end; ++k) {
      T* const own = A + k + k * leading;
      tau[k] = make_reflector(m - k, own[0], own + 1);
      Group<T>{m, k, k + 1, A, leading, tau}.apply(true, end - k - 1, A + (k + 1) * leading, leading);
    }
    Group<T>{m, begin, end, A, leading, tau}.apply(true, n - end, A + end * leading, leading);
  }
}

template <Scalar T>
void ordered_ormqr(bool adjoint, Index m, Index n, Index count, const T* A, Index leading, const T* tau, T* C,
                   Index leading_c) {
  const Arithmetic arithmetic;
  const Index groups = (count + reflectors_at_once - 1) / reflectors_at_once;
  for (Index group = 0; group < groups; ++group) {
    const Index begin = (adjoint ? group : groups - 1 - group) * reflectors_at_once;
    Group<T>{m, begin, std::min(count, begin + reflectors_at_once), A, leading, tau}.apply(adjoint, n, C, leading_c);
  }
}

template <Scalar T> std::vector<T> ordered_orgqr(Index n, const T* A, Index leading, const T* tau) {
  const Arithmetic arithmetic;
  std::vector<T> Q(static_cast<std::size_t>(n * n), T{0});
  for (Index j = 0; j < n; ++j) Q[static_cast<std::size_t>(j + j * n)] = T{1};
  for (Index begin = n == 0 ? 0 : (n - 1) / reflectors_at_once * reflectors_at_once; n > 0 && begin >= 0;
       begin -= reflectors_at_once) {
    // Columns before these are still the identity's, which have nothing here.
    Group<T>{n, begin, std::min(n, begin + reflectors_at_once), A, leading, tau}.apply(false, n - begin,
                                                                                       Q.data() + begin * n, n);
  }
  return Q;
}

#define HEDDLE_INSTANTIATE(T)                                                                      \
  template void ordered_geqrf<T>(Index, Index, T*, Index, T*);                                     \
  template void ordered_ormqr<T>(bool, Index, Index, Index, const T*, Index, const T*, T*, Index); \
  template std::vector<T> ordered_orgqr<T>(Index, const T*, Index, const T*)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
