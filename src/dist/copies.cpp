// Copies between matrices of different strides or in different memory.
#include "dist/copies.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"

namespace heddle::impl {
namespace {

// Element access with any strides.
template <class T> struct Spread {
  T* data;
  Index row;
  Index column;
  explicit Spread(const StridedMatrix<T>& view)
      : data(view.data()), row(static_cast<Index>(view.stride(0))), column(static_cast<Index>(view.stride(1))) {}
  KOKKOS_INLINE_FUNCTION T& operator()(Index i, Index j) const { return data[i * row + j * column]; }
};

template <class T> StridedMatrix<T> transposed(const StridedMatrix<T>& A) {
  return StridedMatrix<T>(A.data(), Kokkos::LayoutStride(A.extent(1), A.stride(1), A.extent(0), A.stride(0)));
}

}  // namespace

template <Scalar T>
void copy_matrix(const ExecutionSpace& space, const StridedMatrix<const T>& from, const StridedMatrix<T>& to) {
  if (to.size() == 0) return;
  // Run along the contiguous direction of the target.
  if (to.stride(0) > to.stride(1)) {
    copy_matrix<T>(space, transposed(from), transposed(to));
    return;
  }
  if (from.stride(0) == 1 && to.stride(0) == 1) {
    copy_elements<T>(space, "heddle::copy", from, to);
    return;
  }
  const Spread<const T> source(from);
  const Spread<T> target(to);
  for_each_element(
      space, "heddle::copy", static_cast<Index>(to.extent(0)), static_cast<Index>(to.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { target(i, j) = source(i, j); });
}

template <Scalar T>
void copy_vector(const ExecutionSpace& space, const StridedVector<const T>& from, const StridedVector<T>& to) {
  const auto column = [](const auto& x) {
    using Vector = std::decay_t<decltype(x)>;
    return StridedMatrix<typename Vector::value_type>(x.data(),
                                                      Kokkos::LayoutStride(x.extent(0), x.stride(0), 1, x.span()));
  };
  copy_matrix<T>(space, column(from), column(to));
}

#define HEDDLE_INSTANTIATE(T)                                                                                  \
  template void copy_matrix<T>(const ExecutionSpace&, const StridedMatrix<const T>&, const StridedMatrix<T>&); \
  template void copy_vector<T>(const ExecutionSpace&, const StridedVector<const T>&, const StridedVector<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
