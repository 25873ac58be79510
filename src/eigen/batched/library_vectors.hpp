// Eigenvectors of many Hermitian matrices by a GPU's library, in half the precision where there is one, which is up to
// twice as fast, and refined. Large batches begin here, and mostly end here.
#pragma once

#include "blas/batches.hpp"
#include "comm/vendor/vendor.hpp"
#include "eigen/batched/refinement.hpp"

#include <algorithm>
#include <vector>

namespace heddle::eigen::impl {

/// low = A of the chosen matrices, without gaps.
template <Scalar T>
void narrow(const ExecutionSpace& space, const Matrices<T>& A, const Values<int>& chosen,
            const Matrices<Lower<T>>& low) {
  const auto n = static_cast<int>(A.extent(0));
  for_each_column(
      space, "heddle::eigen::narrow", static_cast<int>(chosen.extent(0)), n,
      KOKKOS_LAMBDA(const MatrixTeam& team, int at, int j) {
        const int slot = chosen(at);
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n),
                             [&](int i) { low(i, j, at) = static_cast<Lower<T>>(A(i, j, slot)); });
      });
}
/// X = low, likewise.
template <Scalar T>
void widen(const ExecutionSpace& space, const Matrices<Lower<T>>& low, const Values<int>& chosen,
           const Matrices<T>& X) {
  const auto n = static_cast<int>(X.extent(0));
  for_each_column(
      space, "heddle::eigen::widen", static_cast<int>(chosen.extent(0)), n,
      KOKKOS_LAMBDA(const MatrixTeam& team, int at, int j) {
        const int slot = chosen(at);
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n),
                             [&](int i) { X(i, j, slot) = static_cast<T>(low(i, j, at)); });
      });
}

/// Columns of matrices, from `first` on.
template <class Element, Scalar T>
heddle::impl::BatchOperand<Element> operand(const Matrices<T>& matrices, Index first = 0) {
  const auto leading = static_cast<Index>(matrices.stride(1));
  return {matrices.data() + first * leading, leading, static_cast<Index>(matrices.stride(2))};
}

/// Matrix products of refine().
template <Scalar T> struct LibraryProducts {
  const blas::Context& context;
  Index n;

  void whole(const Matrices<T>& A, const Matrices<T>& B, const Matrices<T>& C, const Values<int>& chosen,
             const std::vector<int>& numbers) const {
    heddle::impl::backend_batched_gemm<T>(context, Operation::none, n, n, n, operand<const T>(A), operand<const T>(B),
                                          operand<T>(C), numbers, chosen);
  }
  // By blocks of columns, each with the rows that it has above the diagonal.
  void upper(const Matrices<T>& A, const Matrices<T>& B, const Matrices<T>& C, const Values<int>& chosen,
             const std::vector<int>& numbers) const {
    const Index blocks = n >= 384 ? 4 : 1;  // Blocks make smaller matrices slower.
    const Index width = (n + blocks - 1) / blocks;
    for (Index first = 0; first < n; first += width) {
      const Index end = std::min(n, first + width);
      heddle::impl::backend_batched_gemm<T>(context, Operation::conjugate_transpose, end, end - first, n,
                                            operand<const T>(A), operand<const T>(B, first), operand<T>(C, first),
                                            numbers, chosen);
    }
  }
};

/// Eigenvectors of the chosen matrices of work.A, as Refined says where they are. Blocks.
template <Scalar T>
Refined library_vectors(const Scratch& scratch, const blas::Context& context, const Refinement<T>& work,
                        const std::vector<int>& chosen, Real<T> tolerance) {
  const ExecutionSpace& space = scratch.space();
  const auto n = static_cast<Index>(work.n);
  const auto count = chosen.size();
  const Values<int> here = on_device(scratch, "heddle::eigen::chosen", chosen);
  const Values<int> info = scratch.values<int>("heddle::eigen::info", count);
  const auto values =
      scratch.values<Real<Lower<T>>>("heddle::eigen::library_values", count * static_cast<std::size_t>(work.n));
  // Stored in arrays that the refinement overwrites later.
  const Matrices<Lower<T>> low(reinterpret_cast<Lower<T>*>(work.G.data()), n, n, count);
  narrow<T>(space, work.A, here, low);
  heddle::impl::backend_batched_eigenvectors<Lower<T>>(context, n, static_cast<Index>(count), low.data(), values.data(),
                                                       info.data());
  widen<T>(space, low, here, work.X);
  const std::vector<int> failures = to_host(space, "heddle::eigen::info", info);
  std::vector<int> found;
  std::vector<int> lost;
  for (std::size_t at = 0; at < count; ++at) {
    (failures[at] == 0 ? found : lost).push_back(chosen[at]);
  }
  Refined result = refine<T>(scratch, work, found, tolerance, LibraryProducts<T>{context, n});
  result.lost.insert(result.lost.end(), lost.begin(), lost.end());
  return result;
}

/// How many of `count` matrices are worked on together, of so many bytes each beside what the library works in: as many
/// as keep a GPU busy, of all sizes, and no more than a quarter of the free memory holds. Groups are of one size.
template <Scalar T> int with_library_at_once(const blas::Context& context, Index n, Index bytes_of_one, Index count) {
  constexpr Index busy_elements = Index{1} << 24;
  constexpr Index busy_matrices = 1024;
  const auto room = static_cast<Index>(heddle::impl::vendor::memory_info().free / 4);
  const auto bytes = [&](Index matrices) {
    return matrices * bytes_of_one +
           static_cast<Index>(heddle::impl::batched_eigenvectors_bytes<Lower<T>>(context, n, matrices));
  };
  const Index most = std::max(busy_matrices, busy_elements / (n * n));
  Index groups = (count + most - 1) / most;
  while (groups < count && bytes((count + groups - 1) / groups) > room) {
    ++groups;
  }
  return static_cast<int>((count + groups - 1) / groups);
}

}  // namespace heddle::eigen::impl
