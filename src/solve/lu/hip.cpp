// Clusters of multiprocessors, for HIP: none.
#include "core/instantiate.hpp"
#include "solve/lu/cluster_leaf.hpp"

namespace heddle::impl {

template <Scalar T> ClusterLeaves<T>::ClusterLeaves(const ExecutionSpace& /*space*/) {}
template <Scalar T> Index ClusterLeaves<T>::width(Index /*rows*/) const {
  return most_blocks_;
}
template <Scalar T>
void ClusterLeaves<T>::factor(const ExecutionSpace& /*space*/, const MatrixView<T>& /*panel*/, Index /*begin*/,
                              Index /*end*/, const Kokkos::View<Index*, MemorySpace>& /*pivots*/,
                              const Kokkos::View<Index*, MemorySpace>& /*info*/, const RowMoves& /*moves*/) const {}

#define HEDDLE_INSTANTIATE(T) template class ClusterLeaves<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
