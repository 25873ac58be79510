// Strongly connected components of a matrix's nonzero elements, and reordered matrices.
#include "expm/dense/block_order.hpp"

#include "core/elementwise.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace heddle::impl {
namespace {

constexpr Index word_bits = 32;

// Return the pattern of A's nonzero elements, by rows of `width` words, on every rank.
template <RealScalar T> std::vector<Index> words_of(const Communicator& comm, const Parts<T>& A, Index width) {
  const DistributedMatrix<T>& some = *(A.real ? A.real : A.imaginary);
  const Index n = some.rows();
  std::vector<Index> words(static_cast<std::size_t>(n * width), 0);
  if (some.local().size() > 0) {
    const Elements<T> first(some.local());
    const Elements<T> second((A.imaginary ? A.imaginary : A.real)->local());
    const auto height = static_cast<Index>(some.local().extent(0));
    const Kokkos::View<Index*, MemorySpace> mine(
        Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::expm::pattern"),
        static_cast<std::size_t>(height * width));
    Kokkos::parallel_for(
        "heddle::expm::pattern",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(comm.space(), 0, height * width),
        KOKKOS_LAMBDA(Index at) {
          constexpr Index bits = word_bits;
          const Index i = at % height;
          const Index begin = at / height * bits;
          Index word = 0;
          for (Index b = 0; b < bits && begin + b < n; ++b) {
            const bool filled = first(i, begin + b) != T(0) || second(i, begin + b) != T(0);
            word |= filled ? Index{1} << b : Index{0};
          }
          mine(i * width + at / height) = word;
        });
    const auto host = Kokkos::create_mirror_view(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, Kokkos::SharedHostPinnedSpace{}), mine);
    Kokkos::deep_copy(comm.space(), host, mine);
    comm.space().fence("heddle::expm::pattern");
    std::copy_n(host.data(), host.extent(0), words.begin() + static_cast<std::ptrdiff_t>(some.global_row(0) * width));
  }
  // Each word is nonzero on at most one rank.
  comm.all_reduce(std::span<Index>(words), Reduction::sum);
  return words;
}

class Pattern {
 public:
  template <RealScalar T>
  Pattern(const Communicator& comm, const Parts<T>& A)
      : n_((A.real ? A.real : A.imaginary)->rows()),
        width_((n_ + word_bits - 1) / word_bits),
        words_(words_of(comm, A, width_)) {}

  [[nodiscard]] Index size() const { return n_; }
  [[nodiscard]] bool filled(Index i, Index j) const {
    return (words_[static_cast<std::size_t>(i * width_ + j / word_bits)] >> (j % word_bits) & 1) != 0;
  }
  /// The first j >= from with a_ij != 0; n if there is none.
  [[nodiscard]] Index next(Index i, Index from) const {
    for (Index j = from; j < n_; ++j) {
      if (j % word_bits == 0 && words_[static_cast<std::size_t>(i * width_ + j / word_bits)] == 0) {
        j += word_bits - 1;
      } else if (filled(i, j)) {
        return j;
      }
    }
    return n_;
  }

 private:
  Index n_;
  Index width_;
  std::vector<Index> words_;
};

// Return the component of each index, numbered so that a_ij != 0 only if that of j has no higher number than that of i.
std::vector<Index> components_of(const Pattern& pattern) {
  const auto n = static_cast<std::size_t>(pattern.size());
  constexpr Index none = -1;
  std::vector<Index> component(n, none);
  std::vector<Index> found(n, none);  // Order in which the search found each index.
  std::vector<Index> low(n, 0);       // The earliest index that each leads back to.
  std::vector<Index> open;            // Indices of components that are not complete.
  struct Step {
    Index at;
    Index next;
  };
  std::vector<Step> path;
  Index time = 0;
  Index count = 0;
  const auto of = [](std::vector<Index>& values, Index i) -> Index& { return values[static_cast<std::size_t>(i)]; };
  const auto enter = [&](Index i) {
    of(found, i) = of(low, i) = time++;
    open.push_back(i);
    path.push_back({i, 0});
  };
  for (Index root = 0; root < pattern.size(); ++root) {
    if (of(found, root) != none) continue;
    enter(root);
    while (!path.empty()) {
      const Index i = path.back().at;
      const Index j = pattern.next(i, path.back().next);
      if (j < pattern.size()) {
        path.back().next = j + 1;
        if (of(found, j) == none) {
          enter(j);
        } else if (of(component, j) == none) {
          of(low, i) = std::min(of(low, i), of(found, j));
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) of(low, path.back().at) = std::min(of(low, path.back().at), of(low, i));
      if (of(low, i) == of(found, i)) {
        Index last = none;
        while (last != i) {
          last = open.back();
          open.pop_back();
          of(component, last) = count;
        }
        ++count;
      }
    }
  }
  return component;
}

// Whether every nonzero element leads to the same or a later component.
bool in_order(const Pattern& pattern, const std::vector<Index>& component) {
  const auto n = component.size();
  std::vector<Index> first(n, pattern.size());
  std::vector<Index> last(n, -1);
  for (std::size_t i = 0; i < n; ++i) {
    const auto c = static_cast<std::size_t>(component[i]);
    first[c] = std::min(first[c], static_cast<Index>(i));
    last[c] = static_cast<Index>(i);
  }
  for (Index i = 0; i < pattern.size(); ++i) {
    const auto from = static_cast<std::size_t>(component[static_cast<std::size_t>(i)]);
    for (Index j = pattern.next(i, 0); j < pattern.size(); j = pattern.next(i, j + 1)) {
      const auto to = static_cast<std::size_t>(component[static_cast<std::size_t>(j)]);
      if (from != to && last[from] >= first[to]) return false;
    }
  }
  return true;
}

template <RealScalar T>
void reorder_rows(const ExecutionSpace& space, const DistributedMatrix<T>& X,
                  const Kokkos::View<const Index*, MemorySpace>& order, const DistributedMatrix<T>& Y) {
  const Elements<T> from(X.local());
  const Elements<T> to(Y.local());
  for_each_element(
      space, "heddle::expm::reorder_rows", static_cast<Index>(Y.local().extent(0)),
      static_cast<Index>(Y.local().extent(1)), KOKKOS_LAMBDA(Index i, Index j) { to(i, j) = from(order(i), j); });
}

template <RealScalar T>
void reorder_columns(const ExecutionSpace& space, const DistributedMatrix<T>& X,
                     const Kokkos::View<const Index*, MemorySpace>& order, const DistributedMatrix<T>& Y) {
  const Elements<T> from(X.local());
  const Elements<T> to(Y.local());
  for_each_element(
      space, "heddle::expm::reorder_columns", static_cast<Index>(Y.local().extent(0)),
      static_cast<Index>(Y.local().extent(1)), KOKKOS_LAMBDA(Index i, Index j) { to(i, j) = from(i, order(j)); });
}

}  // namespace

template <RealScalar T> std::vector<Index> block_order(const Communicator& comm, const Parts<T>& A) {
  const Pattern pattern(comm, A);
  const std::vector<Index> component = components_of(pattern);
  if (in_order(pattern, component)) {
    return {};
  }
  std::vector<Index> order(component.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) {
    return component[static_cast<std::size_t>(i)] > component[static_cast<std::size_t>(j)];
  });
  return order;
}

template <RealScalar T>
WorkParts<T> reordered(const Communicator& comm, ComplexArithmetic<T>& arithmetic, const Parts<T>& X,
                       const std::vector<Index>& order) {
  const ExecutionSpace& space = comm.space();
  const Kokkos::View<Index*, MemorySpace> places(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::expm::order"), order.size());
  Kokkos::deep_copy(space, places, Kokkos::View<const Index*, Kokkos::HostSpace>(order.data(), order.size()));
  space.fence("heddle::expm::order");
  const Parts<T> columns = arithmetic.column_bands(X);
  const auto side = [&](const SharedMatrix<T>& part) -> WorkMatrix<T> {
    if (!part) return {};
    const DistributedMatrix<T> rows_moved(comm, part->placement(), "expm_reordered");
    reorder_rows<T>(space, *part, places, rows_moved);
    WorkMatrix<T> in_rows = arithmetic.take();
    redistribute(rows_moved, in_rows.write());
    WorkMatrix<T> result = arithmetic.take();
    reorder_columns<T>(space, *in_rows.read(), places, result.write());
    space.fence("heddle::expm::reordered");
    return result;
  };
  return {side(columns.real), side(columns.imaginary)};
}

std::vector<Index> inverse_of(const std::vector<Index>& order) {
  std::vector<Index> inverse(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    inverse[static_cast<std::size_t>(order[k])] = static_cast<Index>(k);
  }
  return inverse;
}

#define HEDDLE_INSTANTIATE(T)                                                                  \
  template std::vector<Index> block_order(const Communicator&, const Parts<T>&);               \
  template WorkParts<T> reordered(const Communicator&, ComplexArithmetic<T>&, const Parts<T>&, \
                                  const std::vector<Index>&)
HEDDLE_INSTANTIATE(float);
HEDDLE_INSTANTIATE(double);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
