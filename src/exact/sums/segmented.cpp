// Correctly rounded sums of the segments of a vector.
#include "core/instantiate.hpp"
#include "core/memory/shared_storage.hpp"
#include "exact/sums/device_segments.hpp"
#include <heddle/exact/segmented.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <limits>

#ifdef __FAST_MATH__
#error "exact/sums/segmented.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact::compiled {

using namespace impl;
namespace {

template <class I> Index element_of(const ExecutionSpace& space, const StridedVector<const I>& x, Index i) {
  I value = 0;
  const I* const at = x.data() + i * static_cast<Index>(x.stride(0));
  Kokkos::deep_copy(space, value, Kokkos::View<const I, MemorySpace, Kokkos::MemoryUnmanaged>(at));
  space.fence("heddle::exact::element");
  return static_cast<Index>(value);
}

// Throws if offsets are not in ascending order from 0 to n.
template <class I> void require_offsets(const ExecutionSpace& space, const StridedVector<const I>& offsets, Index n) {
  constexpr Index none = std::numeric_limits<Index>::max();
  const auto count = static_cast<Index>(offsets.extent(0));
  Index first = none;
  Kokkos::parallel_reduce(
      "heddle::exact::offsets", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, count),
      KOKKOS_LAMBDA(Index s, Index & wrong) {
        const auto here = static_cast<Index>(offsets(s));
        const Index before = s > 0 ? static_cast<Index>(offsets(s - 1)) : 0;
        if ((here < before || here > n) && s < wrong) {
          wrong = s;
        }
      },
      Kokkos::Min<Index>(first));
  if (first == none) {
    return;
  }
  const Index here = element_of(space, offsets, first);
  const Index before = first > 0 ? element_of(space, offsets, first - 1) : 0;
  throw Error(ErrorKind::argument, message_of("exact::segmented_sum: offset ", first, " is ", here, "; expected ",
                                              before, " to ", n, ", in ascending order"));
}

}  // namespace

template <Scalar T, SegmentIndex I>
SegmentedSumReport segmented_sum(const ExecutionSpace& space, const StridedVector<const T>& x,
                                 const StridedVector<const I>& offsets, const StridedVector<T>& sums,
                                 const SegmentedSumOptions& options) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::segmented_sum");
  const auto n = static_cast<Index>(x.extent(0));
  const auto count = static_cast<Index>(sums.extent(0));
  require(offsets.extent(0) == sums.extent(0) + 1 || (count == 0 && offsets.extent(0) == 0),
          "exact::segmented_sum: ", offsets.extent(0), " offsets and ", count,
          " sums; expected one offset more than sums");
  heddle::impl::require_apart("exact::segmented_sum", "x", x, "sums", sums);
  heddle::impl::require_apart("exact::segmented_sum", "offsets", offsets, "sums", sums);
  require_offsets(space, offsets, n);
  SegmentedSumReport report;
  if (count == 0) {
    return report;
  }
  using R = Real<T>;
  constexpr Index parts = parts_of_scalar<T>;
  const Index elements = element_of(space, offsets, count) - element_of(space, offsets, 0);
  for (Index p = 0; p < parts; ++p) {
    const Segments<R, I> segments{{reinterpret_cast<const R*>(x.data()) + p, static_cast<Index>(x.stride(0)) * parts},
                                  offsets.data(),
                                  static_cast<Index>(offsets.stride(0)),
                                  count,
                                  reinterpret_cast<R*>(sums.data()) + p,
                                  static_cast<Index>(sums.stride(0)) * parts,
                                  options.add};
    if constexpr (on_host) {
      report.reopened += sum_segments_on_host(space, segments, elements);
    } else {
      heddle::impl::Workspace workspace(space, false);
      report.reopened += sum_segments_on_device(workspace, segments, elements);
    }
  }
  return report;
}

#define HEDDLE_INSTANTIATE(T)                                                                                      \
  template SegmentedSumReport segmented_sum<T, std::int32_t>(const ExecutionSpace&, const StridedVector<const T>&, \
                                                             const StridedVector<const std::int32_t>&,             \
                                                             const StridedVector<T>&, const SegmentedSumOptions&); \
  template SegmentedSumReport segmented_sum<T, std::int64_t>(const ExecutionSpace&, const StridedVector<const T>&, \
                                                             const StridedVector<const std::int64_t>&,             \
                                                             const StridedVector<T>&, const SegmentedSumOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact::compiled
