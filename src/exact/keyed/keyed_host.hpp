// On the host: sums of the elements that have the same key.
#pragma once

#include "core/memory/large_pages.hpp"
#include "exact/sums/segments.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace heddle::exact::impl {

/// Elements and their keys: the caller's vectors, or those distributed to a table of keys.
template <RealScalar T, class I> struct KeyedNumbers {
  const T* x;
  Index stride;
  const I* keys;
  Index key_stride;
  Index count;

  [[nodiscard]] std::size_t key(Index i) const { return static_cast<std::size_t>(keys[i * key_stride]); }
  [[nodiscard]] double term(Index i) const { return static_cast<double>(x[i * stride]); }
};

/// A sum for each of some keys, in three times the precision; sums that this leaves open are formed again exactly.
template <RealScalar T> class KeyTable {
 public:
  /// Keys of a block that elements are distributed to: a table that stays in a core's cache.
  static constexpr Index block_keys = Index{1} << 14;
  /// Up to this many keys, distributing elements to blocks does not pay: the table is in the last-level cache, or
  /// nearly.
  static constexpr Index most_keys = Index{1} << 18;

  KeyTable(T* sums, Index stride, Index keys, bool add) : sums_(sums), stride_(stride), keys_(keys), add_(add) {}

  /// Computes all sums of `numbers` in `parts` parts, each by a thread; run(parts, body) runs body(part) for all parts.
  /// Returns how many were formed again.
  template <class Numbers, class Run> Index sum(const Numbers& numbers, Index parts, const Run& run) {
    const auto keys = static_cast<std::size_t>(keys_);
    std::vector<Sums> tables(static_cast<std::size_t>(parts));
    run(parts, [&](Index part) {
      // Allocated by the thread that writes it.
      Sums& table = tables[static_cast<std::size_t>(part)];
      table = Sums(keys);
      table.add(numbers, numbers.count * part / parts, numbers.count * (part + 1) / parts);
    });
    std::vector<std::vector<std::size_t>> left(tables.size());
    run(parts, [&](Index part) {
      const auto end = static_cast<std::size_t>(keys_ * (part + 1) / parts);
      for (auto key = static_cast<std::size_t>(keys_ * part / parts); key < end; ++key) {
        Threefold all = tables[0].get(key);
        for (std::size_t other = 1; other < tables.size(); ++other) all.merge(tables[other].get(key));
        if (!finish(key, all, numbers.count)) left[static_cast<std::size_t>(part)].push_back(key);
      }
    });
    std::vector<std::size_t> open;
    for (const std::vector<std::size_t>& some : left) open.insert(open.end(), some.begin(), some.end());
    // An accumulator takes a kilobyte.
    constexpr std::size_t at_once = 1024;
    for (std::size_t first = 0; first < open.size(); first += at_once) {
      sum_exactly(numbers, parts, run, std::span(open).subspan(first, std::min(at_once, open.size() - first)));
    }
    return static_cast<Index>(open.size());
  }

 private:
  // Sums in three times the precision; only two doubles are read and written unless these lose something.
  class Sums {
   public:
    Sums() = default;
    explicit Sums(std::size_t keys) : leading_(keys), rests_(keys) {}
    template <class Numbers> void add(const Numbers& numbers, Index begin, Index end) {
      Leading* const leading = leading_.data();
      for (Index i = begin; i < end; ++i) {
        const std::size_t key = numbers.key(i);
        double value = numbers.term(i);
        Leading& sum = leading[key];
        two_sum(sum.sum, value);
        two_sum(sum.lost, value);
        // NaNs are not zero either.
        if (value != 0) {
          Rest& rest = rests_[key];
          rest.sum = rounded_sum(rest.sum, value);
          rest.size += std::abs(value);
        }
      }
    }
    [[nodiscard]] Threefold get(std::size_t key) const {
      Threefold all;
      all.sum = leading_[key].sum;
      all.lost = leading_[key].lost;
      all.rest = rests_[key].sum;
      all.size = rests_[key].size;
      return all;
    }

   private:
    struct Leading {
      double sum = Threefold().sum;
      double lost = Threefold().lost;
    };
    struct Rest {
      double sum = 0;
      double size = 0;
    };
    std::vector<Leading> leading_;
    std::vector<Rest> rests_;
  };

  T& at(std::size_t key) const { return sums_[static_cast<Index>(key) * stride_]; }
  bool finish(std::size_t key, Threefold& found, Index numbers) const {
    if (add_) {
      found.add(static_cast<double>(at(key)));
    }
    T result;
    const bool is_known = found.rounds_to(numbers + 64, 0, result);
    if (is_known) at(key) = result;
    return is_known;
  }

  template <class Numbers, class Run>
  void sum_exactly(const Numbers& numbers, Index parts, const Run& run, std::span<const std::size_t> open) const {
    constexpr std::int32_t none = -1;
    std::vector<std::int32_t> slots(static_cast<std::size_t>(keys_), none);
    for (std::size_t slot = 0; slot < open.size(); ++slot) slots[open[slot]] = static_cast<std::int32_t>(slot);
    std::vector<std::vector<Accumulator<double>>> sums(static_cast<std::size_t>(parts));
    run(parts, [&](Index part) {
      std::vector<Accumulator<double>>& mine = sums[static_cast<std::size_t>(part)];
      mine.resize(open.size());
      const Index end = numbers.count * (part + 1) / parts;
      for (Index i = numbers.count * part / parts; i < end; ++i) {
        const std::int32_t slot = slots[numbers.key(i)];
        if (slot != none) mine[static_cast<std::size_t>(slot)].add(numbers.term(i));
      }
    });
    for (std::size_t slot = 0; slot < open.size(); ++slot) {
      Accumulator<double>& all = sums[0][slot];
      for (std::size_t part = 1; part < sums.size(); ++part) all.merge(sums[part][slot]);
      if (add_) all.add(static_cast<double>(at(open[slot])));
      at(open[slot]) = all.template value<T>();
    }
  }

  T* sums_;
  Index stride_;
  Index keys_;
  bool add_;
};

/// Elements distributed to blocks of keys, `block_keys` each, in the order of these: those of a block are contiguous.
template <RealScalar T> struct DealtNumbers {
  Kokkos::View<T*, Kokkos::HostSpace> terms;
  Kokkos::View<std::uint16_t*, Kokkos::HostSpace> keys;  ///< Within the block.
  std::vector<Index> offsets;                            ///< Offset of each block and, last, the number of elements.
};

/// Distributes the elements, in parts that threads count and copy. Keys are in range.
template <RealScalar T, class I>
DealtNumbers<T> deal(const ExecutionSpace& space, const KeyedNumbers<T, I>& numbers, Index blocks) {
  constexpr auto block_keys = static_cast<std::size_t>(KeyTable<T>::block_keys);
  const auto length = static_cast<std::size_t>(numbers.count);
  const auto bytes_apart = Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::exact::dealt");
  DealtNumbers<T> dealt{Kokkos::View<T*, Kokkos::HostSpace>(bytes_apart, length),
                        Kokkos::View<std::uint16_t*, Kokkos::HostSpace>(bytes_apart, length),
                        std::vector<Index>(static_cast<std::size_t>(blocks) + 1)};
  heddle::impl::advise_large_pages(dealt.terms.data(), length * sizeof(T));
  heddle::impl::advise_large_pages(dealt.keys.data(), length * sizeof(std::uint16_t));
  const Index parts = space.concurrency();
  std::vector<std::vector<Index>> places(static_cast<std::size_t>(parts));
  const auto begin = [&](Index part) { return numbers.count * part / parts; };
  // Loops copy their inputs: the compiler must assume that a count written could alias them.
  for_each_chunk(space, "heddle::exact::count", 0, parts, 1, true, [&](Index part, Index /*end*/) {
    const KeyedNumbers<T, I> all = numbers;
    // Neighbours often have the same block, and their increments would wait for each other.
    std::vector<Index> even(static_cast<std::size_t>(blocks));
    std::vector<Index> odd(static_cast<std::size_t>(blocks));
    Index* const counts[2] = {even.data(), odd.data()};
    const Index end = begin(part + 1);
    for (Index i = begin(part); i < end; ++i) ++counts[i & 1][all.key(i) / block_keys];
    for (std::size_t block = 0; block < even.size(); ++block) even[block] += odd[block];
    places[static_cast<std::size_t>(part)] = std::move(even);
  });
  Index place = 0;
  for (std::size_t block = 0; block < static_cast<std::size_t>(blocks); ++block) {
    dealt.offsets[block] = place;
    for (std::vector<Index>& of_part : places) {
      const Index count = of_part[block];
      of_part[block] = place;
      place += count;
    }
  }
  dealt.offsets.back() = place;
  for_each_chunk(space, "heddle::exact::deal", 0, parts, 1, true, [&](Index part, Index /*end*/) {
    const KeyedNumbers<T, I> all = numbers;
    Index* const next = places[static_cast<std::size_t>(part)].data();
    T* const terms = dealt.terms.data();
    std::uint16_t* const keys = dealt.keys.data();
    const Index end = begin(part + 1);
    for (Index i = begin(part); i < end; ++i) {
      const std::size_t key = all.key(i);
      const Index to = next[key / block_keys]++;
      terms[to] = all.x[i * all.stride];
      keys[to] = static_cast<std::uint16_t>(key % block_keys);
    }
  });
  return dealt;
}

/// Computes sums(k), `sum_stride` apart, of the numbers with key k < keys; returns how many were formed again.
template <RealScalar T, class I>
Index sum_keys_on_host(const ExecutionSpace& space, const KeyedNumbers<T, I>& numbers, T* sums, Index sum_stride,
                       Index keys, bool add) {
  using Table = KeyTable<T>;
  const auto by_all = [&](Index parts, const auto& body) {
    for_each_chunk(space, "heddle::exact::keys", 0, parts, 1, true, [&](Index part, Index /*end*/) { body(part); });
  };
  // More threads than this would cost more for their tables than they save.
  const auto parts_of = [&](Index count, Index table) {
    return std::clamp<Index>(count / std::max<Index>(4096, table), 1, space.concurrency());
  };
  const DefaultArithmetic arithmetic;
  if (keys <= Table::most_keys) {
    return Table(sums, sum_stride, keys, add).sum(numbers, parts_of(numbers.count, keys), by_all);
  }
  const Index blocks = (keys + Table::block_keys - 1) / Table::block_keys;
  const DealtNumbers<T> dealt = deal(space, numbers, blocks);
  const auto sum_block = [&](Index block, Index parts, const auto& run) {
    const Index first = block * Table::block_keys;
    const Index begin = dealt.offsets[static_cast<std::size_t>(block)];
    const Index end = dealt.offsets[static_cast<std::size_t>(block) + 1];
    const KeyedNumbers<T, std::uint16_t> mine{dealt.terms.data() + begin, 1, dealt.keys.data() + begin, 1, end - begin};
    Table table(sums + first * sum_stride, sum_stride, std::min(Table::block_keys, keys - first), add);
    return table.sum(mine, parts, run);
  };
  // A block that would keep other threads waiting is summed by all of them.
  const auto is_large = [&](Index block) {
    const auto at = static_cast<std::size_t>(block);
    return dealt.offsets[at + 1] - dealt.offsets[at] >
           std::max<Index>(1 << 20, numbers.count / (4 * space.concurrency()));
  };
  std::atomic<Index> reopened = 0;
  for_each_chunk(space, "heddle::exact::keys", 0, blocks, 1, true, [&](Index block, Index /*end*/) {
    if (!is_large(block)) {
      reopened += sum_block(block, 1, [](Index, const auto& body) { body(Index{0}); });
    }
  });
  for (Index block = 0; block < blocks; ++block) {
    if (is_large(block)) {
      const auto at = static_cast<std::size_t>(block);
      reopened += sum_block(block, parts_of(dealt.offsets[at + 1] - dealt.offsets[at], Table::block_keys), by_all);
    }
  }
  return reopened;
}

}  // namespace heddle::exact::impl
