// Sort of elements by their keys with HIP, and stubs of the cluster leaves of CUDA.
#include "core/instantiate.hpp"
#include "exact/keyed/keyed_device.hpp"
#include "exact/lu/cluster_leaf.hpp"

#include <Kokkos_Sort.hpp>

#include <cstddef>
#include <cstdint>

namespace heddle::exact::impl {

template <Scalar T> ClusterLeaves<T>::ClusterLeaves(const ExecutionSpace& /*space*/) {}
template <Scalar T> Index ClusterLeaves<T>::width(Index /*rows*/) const {
  return most_blocks_;
}
template <Scalar T>
void ClusterLeaves<T>::factor(const ExecutionSpace& /*space*/, const DeviceColumns<T>& /*columns*/,
                              const LeafPlace& /*leaf*/, const SumBounds<T>& /*bounds*/,
                              const Kokkos::View<Index*, MemorySpace>& /*pivots*/, const DeviceMoves& /*moves*/) const {
}

#define HEDDLE_INSTANTIATE(T) template class ClusterLeaves<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

template <Scalar T, class I>
void sort_by_keys(heddle::impl::Workspace& workspace, const I* keys, const T* elements, I* sorted_keys,
                  T* sorted_elements, Index count, int /*bits*/) {
  const ExecutionSpace& space = workspace.space();
  const auto length = static_cast<std::size_t>(count);
  const Kokkos::View<I*, MemorySpace> to_sort(sorted_keys, length);
  const Kokkos::View<T*, MemorySpace> along(sorted_elements, length);
  Kokkos::deep_copy(space, to_sort, Kokkos::View<const I*, MemorySpace>(keys, length));
  Kokkos::deep_copy(space, along, Kokkos::View<const T*, MemorySpace>(elements, length));
  Kokkos::Experimental::sort_by_key(space, to_sort, along);
}

#define HEDDLE_INSTANTIATE(T)                                                                                         \
  template void sort_by_keys<T, std::int32_t>(heddle::impl::Workspace&, const std::int32_t*, const T*, std::int32_t*, \
                                              T*, Index, int);                                                        \
  template void sort_by_keys<T, std::int64_t>(heddle::impl::Workspace&, const std::int64_t*, const T*, std::int64_t*, \
                                              T*, Index, int)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact::impl
