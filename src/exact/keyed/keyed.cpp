// Sums of the elements that have the same key: on the host in tables, on GPUs as segments of sorted elements.
#include "core/instantiate.hpp"
#include "core/memory/shared_storage.hpp"
#include "core/memory/workspace.hpp"
#include "exact/keyed/keyed_host.hpp"
#include "exact/sums/device_segments.hpp"
#include <heddle/exact/segmented.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
#include "exact/keyed/keyed_device.hpp"
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>

#ifdef __FAST_MATH__
#error "exact/keyed/keyed.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact::compiled {

using namespace impl;
using heddle::impl::Workspace;
namespace {

using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>;

// Throws if a key is out of range.
template <class I> void require_keys(const ExecutionSpace& space, const StridedVector<const I>& keys, Index count) {
  constexpr Index none = std::numeric_limits<Index>::max();
  Index wrong = none;
  Kokkos::parallel_reduce(
      "heddle::exact::keys", Policy(space, 0, static_cast<Index>(keys.extent(0))),
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
// Elements in the order of their keys, and the offset of each key's first element.
template <Scalar T> struct OrderedElements {
  Kokkos::View<T*, MemorySpace> elements;  // Not allocated if the elements are in order already.
  Kokkos::View<Index*, MemorySpace> offsets;
};
// The vector itself if it is contiguous, or else a contiguous copy.
template <class V> struct Dense {
  Kokkos::View<V*, MemorySpace> copy;
  const V* data = nullptr;
};
template <class V> Dense<V> dense(Workspace& workspace, const StridedVector<const V>& x) {
  Dense<V> result;
  result.data = x.data();
  if (x.extent(0) > 1 && x.stride(0) != 1) {
    result.copy = workspace.take<V>("heddle::exact::dense", static_cast<Index>(x.extent(0)));
    Kokkos::deep_copy(workspace.space(), result.copy, x);
    result.data = result.copy.data();
  }
  return result;
}
// Result of a pass over keys; `+=` joins parts of a reduction.
struct KeyOrder {
  Index descents = 0;
  Index widest = 0;  // Number of keys that begin at one element; most of them have no elements.
  KOKKOS_INLINE_FUNCTION KeyOrder& operator+=(const KeyOrder& other) {
    descents += other.descents;
    widest = Kokkos::max(widest, other.widest);
    return *this;
  }
};
// Returns whether a sample of elements, far apart, has keys in ascending order: a quick test that rejects most other
// lists.
template <class I> bool may_be_ascending(const ExecutionSpace& space, const StridedVector<const I>& keys) {
  constexpr Index samples = 4096;
  const auto n = static_cast<Index>(keys.extent(0));
  const Index count = std::min(samples, n);
  Index descents = 0;
  Kokkos::parallel_reduce(
      "heddle::exact::keys", Policy(space, 1, std::max<Index>(1, count)),
      KOKKOS_LAMBDA(Index k, Index & down) {
        down += keys(static_cast<Index>(double(k) / double(count) * double(n))) <
                        keys(static_cast<Index>(double(k - 1) / double(count) * double(n)))
                    ? 1
                    : 0;
      },
      descents);
  return descents == 0;
}
// Computes offsets(k), the first element whose key is not below k, of valid keys. Returns false, with unspecified
// offsets, if keys are not in ascending order.
template <class I>
bool find_offsets(const ExecutionSpace& space, const StridedVector<const I>& keys,
                  const Kokkos::View<Index*, MemorySpace>& offsets) {
  constexpr Index most = 64;  // Maximum number of offsets that one thread writes.
  const auto n = static_cast<Index>(keys.extent(0));
  const Index count = static_cast<Index>(offsets.extent(0)) - 1;
  KeyOrder found;
  Kokkos::parallel_reduce(
      "heddle::exact::offsets", Policy(space, 0, n + 1),
      KOKKOS_LAMBDA(Index i, KeyOrder & mine) {
        const Index before = i > 0 ? static_cast<Index>(keys(i - 1)) : -1;
        const Index key = i < n ? static_cast<Index>(keys(i)) : count;
        if (key < before) {
          ++mine.descents;
          return;
        }
        mine.widest = Kokkos::max(mine.widest, key - before);
        if (key - before <= most) {
          for (Index k = before + 1; k <= key; ++k) offsets(k) = i;
        }
      },
      found);
  if (found.descents > 0) return false;
  if (found.widest > most) {
    Kokkos::parallel_for(
        "heddle::exact::offsets", Policy(space, 0, count + 1), KOKKOS_LAMBDA(Index key) {
          Index first = 0;
          Index last = n;
          while (first < last) {
            const Index middle = first + (last - first) / 2;
            if (static_cast<Index>(keys(middle)) < key) {
              first = middle + 1;
            } else {
              last = middle;
            }
          }
          offsets(key) = first;
        });
  }
  return true;
}
template <Scalar T, class I>
OrderedElements<T> ordered(Workspace& workspace, const StridedVector<const T>& x, const StridedVector<const I>& keys,
                           Index count) {
  const ExecutionSpace& space = workspace.space();
  const auto n = static_cast<Index>(keys.extent(0));
  OrderedElements<T> result{{}, workspace.take<Index>("heddle::exact::offsets", count + 1)};
  if (may_be_ascending(space, keys) && find_offsets(space, keys, result.offsets)) return result;
  result.elements = workspace.take<T>("heddle::exact::elements", n);
  const Kokkos::View<I*, MemorySpace> sorted = workspace.take<I>("heddle::exact::sorted", n);
  const Dense<I> dense_keys = dense<I>(workspace, keys);
  const Dense<T> dense_x = dense<T>(workspace, x);
  const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count - 1))));
  sort_by_keys<T, I>(workspace, dense_keys.data, dense_x.data, sorted.data(), result.elements.data(), n, bits);
  find_offsets(space, StridedVector<const I>(sorted.data(), Kokkos::LayoutStride(sorted.extent(0), 1)), result.offsets);
  return result;
}
#endif

template <Scalar T, SegmentIndex I>
KeyedSumReport sums_in(Workspace& workspace, const StridedVector<const T>& x, const StridedVector<const I>& keys,
                       const StridedVector<T>& sums, const KeyedSumOptions& options) {
  const ExecutionSpace& space = workspace.space();
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
  const OrderedElements<T> found = ordered<T, I>(workspace, x, keys, count);
  const bool ascending = !found.elements.is_allocated();
  const R* const in_order = ascending ? numbers : reinterpret_cast<const R*>(found.elements.data());
  for (Index p = 0; p < parts; ++p) {
    const Segments<R, Index> segments{{in_order + p, ascending ? stride : parts, nullptr},
                                      found.offsets.data(),
                                      1,
                                      count,
                                      results + p,
                                      sum_stride,
                                      options.add};
    report.reopened += sum_segments_on_device(workspace, segments, n);
  }
#else
  for (Index p = 0; p < parts; ++p) {
    const KeyedNumbers<R, I> keyed{numbers + p, stride, keys.data(), static_cast<Index>(keys.stride(0)), n};
    report.reopened += sum_keys_on_host(space, keyed, results + p, sum_stride, count, options.add);
  }
#endif
  return report;
}

}  // namespace

template <Scalar T, SegmentIndex I>
KeyedSumReport keyed_sum(const ExecutionSpace& space, const StridedVector<const T>& x,
                         const StridedVector<const I>& keys, const StridedVector<T>& sums,
                         const KeyedSumOptions& options) {
  Workspace workspace(space, false);
  return sums_in(workspace, x, keys, sums, options);
}

}  // namespace heddle::exact::compiled

namespace heddle::exact {

struct KeyedSumPlan::State {
  heddle::impl::Workspace workspace;
};

KeyedSumPlan::KeyedSumPlan(const ExecutionSpace& space) : state_(new State{{space, true}}) {}
KeyedSumPlan::~KeyedSumPlan() = default;
KeyedSumPlan::KeyedSumPlan(KeyedSumPlan&&) noexcept = default;
KeyedSumPlan& KeyedSumPlan::operator=(KeyedSumPlan&&) noexcept = default;

template <Scalar T, SegmentIndex I>
KeyedSumReport KeyedSumPlan::sum(const StridedVector<const T>& x, const StridedVector<const I>& keys,
                                 const StridedVector<T>& sums, const KeyedSumOptions& options) {
  return compiled::sums_in(state_->workspace, x, keys, sums, options);
}

#define HEDDLE_INSTANTIATE_KEYS(T, I)                                                                           \
  template KeyedSumReport compiled::keyed_sum<T, I>(const ExecutionSpace&, const StridedVector<const T>&,       \
                                                    const StridedVector<const I>&, const StridedVector<T>&,     \
                                                    const KeyedSumOptions&);                                    \
  template KeyedSumReport KeyedSumPlan::sum<T, I>(const StridedVector<const T>&, const StridedVector<const I>&, \
                                                  const StridedVector<T>&, const KeyedSumOptions&)
#define HEDDLE_INSTANTIATE(T)               \
  HEDDLE_INSTANTIATE_KEYS(T, std::int32_t); \
  HEDDLE_INSTANTIATE_KEYS(T, std::int64_t)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_KEYS

}  // namespace heddle::exact
