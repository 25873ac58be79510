#include "core/instantiate.hpp"
#include "exact/cluster_leaf.hpp"

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

}  // namespace heddle::exact::impl
