#include "core/instantiate.hpp"
#include "core/shared_storage.hpp"
#include "exact/device_segments.hpp"
#include "exact/keyed_host.hpp"
#include <heddle/exact/segmented.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
#include "exact/keyed_device.hpp"
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>

#ifdef __FAST_MATH__
#error "exact/keyed.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact::compiled {

using namespace impl;
namespace {

// Throws where a key is out of range.
template <class I> void require_keys(const ExecutionSpace& space, const StridedVector<const I>& keys, Index count) {
  constexpr Index none = std::numeric_limits<Index>::max();
  Index wrong = none;
  Kokkos::parallel_reduce(
      "heddle::exact::keys",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(keys.extent(0))),
      KOKKOS_LAMBDA(Index i, Index & first) {
        const auto key = static_cast<Index>(keys(i));
        if ((key < 0 || key >= count) && i < first) {
          first = i;
        }
      },
      Kokkos::Min<Index>(wrong));
  if (wrong != none) {
    I key = 0;
    const I* const at = keys.data() + wrong * static_cast<Index>(keys.stride(0));
    Kokkos::deep_copy(space, key, Kokkos::View<const I, MemorySpace, Kokkos::MemoryUnmanaged>(at));
    space.fence("heddle::exact::keys");
    throw Error(ErrorKind::argument, message_of("exact::keyed_sum: key ", key, " of element ", wrong,
                                                ", counted from 0; ", count, " sums take keys from 0 to ", count - 1));
  }
}

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
// Elements in the order of their keys, and where those of each begin.
template <Scalar T> struct OrderedElements {
  Kokkos::View<T*, MemorySpace> elements;  // None where they lie so.
  Kokkos::View<Index*, MemorySpace> offsets;
};
// The vector itself, where its elements lie side by side, or a copy in which they do.
template <class V> struct Dense {
  Kokkos::View<V*, MemorySpace> copy;
  const V* data = nullptr;
};
template <class V> Dense<V> dense(const ExecutionSpace& space, const StridedVector<const V>& x) {
  Dense<V> result;
  result.data = x.data();
  if (x.extent(0) > 1 && x.stride(0) != 1) {
    result.copy = Kokkos::View<V*, MemorySpace>(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::dense"), x.extent(0));
    Kokkos::deep_copy(space, result.copy, x);
    result.data = result.copy.data();
  }
  return result;
}
template <class I> bool are_ascending(const ExecutionSpace& space, const StridedVector<const I>& keys) {
  Index descents = 0;
  Kokkos::parallel_reduce(
      "heddle::exact::keys",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 1, std::max<Index>(1, keys.extent(0))),
      KOKKOS_LAMBDA(Index i, Index & down) { down += keys(i) < keys(i - 1) ? 1 : 0; }, descents);
  return descents == 0;
}
template <Scalar T, class I>
OrderedElements<T> ordered(const ExecutionSpace& space, const StridedVector<const T>& x,
                           const StridedVector<const I>& keys, Index count, bool ascending) {
  const auto n = static_cast<Index>(keys.extent(0));
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>;
  const auto unset = [&](const std::string& label) {
    return Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label);
  };
  OrderedElements<T> result{
      {}, Kokkos::View<Index*, MemorySpace>(unset("heddle::exact::offsets"), static_cast<std::size_t>(count) + 1)};
  Kokkos::View<I*, MemorySpace> sorted;
  const bool sorts = !ascending;
  if (sorts) {
    result.elements = Kokkos::View<T*, MemorySpace>(unset("heddle::exact::elements"), keys.extent(0));
    sorted = Kokkos::View<I*, MemorySpace>(unset("heddle::exact::sorted"), keys.extent(0));
    const Dense<I> dense_keys = dense<I>(space, keys);
    const Dense<T> dense_x = dense<T>(space, x);
    const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count - 1))));
    sort_by_keys<T, I>(space, dense_keys.data, dense_x.data, sorted.data(), result.elements.data(), n, bits);
  }
  const I* const at = sorts ? sorted.data() : keys.data();
  const Index stride = sorts ? 1 : static_cast<Index>(keys.stride(0));
  const Kokkos::View<Index*, MemorySpace> offsets = result.offsets;
  Kokkos::parallel_for(
      "heddle::exact::offsets", Policy(space, 0, count + 1), KOKKOS_LAMBDA(Index key) {
        // The first element whose key is not below.
        Index first = 0;
        Index last = n;
        while (first < last) {
          const Index middle = first + (last - first) / 2;
          if (static_cast<Index>(at[middle * stride]) < key) {
            first = middle + 1;
          } else {
            last = middle;
          }
        }
        offsets(key) = first;
      });
  space.fence("heddle::exact::keys");
  return result;
}
#endif

}  // namespace

template <Scalar T, SegmentIndex I>
KeyedSumReport keyed_sum(const ExecutionSpace& space, const StridedVector<const T>& x,
                         const StridedVector<const I>& keys, const StridedVector<T>& sums,
                         const KeyedSumOptions& options) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::keyed_sum");
  const auto n = static_cast<Index>(x.extent(0));
  const auto count = static_cast<Index>(sums.extent(0));
  require(x.extent(0) == keys.extent(0), "exact::keyed_sum: ", n, " elements and ", keys.extent(0), " keys");
  heddle::impl::require_apart("exact::keyed_sum", "x", x, "sums", sums);
  heddle::impl::require_apart("exact::keyed_sum", "keys", keys, "sums", sums);
  require_keys(space, keys, count);
  KeyedSumReport report;
  if (count == 0) {
    return report;
  }
  using R = Real<T>;
  constexpr Index parts = parts_of_scalar<T>;
  const auto* const numbers = reinterpret_cast<const R*>(x.data());
  auto* const results = reinterpret_cast<R*>(sums.data());
  const Index stride = static_cast<Index>(x.stride(0)) * parts;
  const Index sum_stride = static_cast<Index>(sums.stride(0)) * parts;
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
  const bool ascending = are_ascending(space, keys);
  const OrderedElements<T> found = ordered<T, I>(space, x, keys, count, ascending);
  const R* const in_order = ascending ? numbers : reinterpret_cast<const R*>(found.elements.data());
  for (Index p = 0; p < parts; ++p) {
    const Segments<R, Index> segments{{in_order + p, ascending ? stride : parts, nullptr},
                                      found.offsets.data(),
                                      1,
                                      count,
                                      results + p,
                                      sum_stride,
                                      options.add};
    report.reopened += sum_segments_on_device(space, segments, n);
  }
#else
  for (Index p = 0; p < parts; ++p) {
    const KeyedNumbers<R, I> keyed{numbers + p, stride, keys.data(), static_cast<Index>(keys.stride(0)), n};
    report.reopened += sum_keys_on_host(space, keyed, results + p, sum_stride, count, options.add);
  }
#endif
  return report;
}

#define HEDDLE_INSTANTIATE(T)                                                                              \
  template KeyedSumReport keyed_sum<T, std::int32_t>(const ExecutionSpace&, const StridedVector<const T>&, \
                                                     const StridedVector<const std::int32_t>&,             \
                                                     const StridedVector<T>&, const KeyedSumOptions&);     \
  template KeyedSumReport keyed_sum<T, std::int64_t>(const ExecutionSpace&, const StridedVector<const T>&, \
                                                     const StridedVector<const std::int64_t>&,             \
                                                     const StridedVector<T>&, const KeyedSumOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact::compiled
