// Launches of expm_batched(): one team of threads for each matrix.
#include "core/instantiate.hpp"
#include "expm/batched/small_exponential.hpp"
#include <heddle/expm/batched.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::compiled {
namespace {

using namespace impl;

template <Scalar T> struct ExponentialsOfBatch {
  using Member = typename BatchTeams::member_type;
  Kokkos::View<const ExpmBatchedItem<T>*, MemorySpace> items;  // Empty if all items follow from `first`.
  ExpmBatchedItem<T> first;
  Index from_step, to_step;
  ExpmBatchedInfos info;
  Choices<Real<T>> choices;
  int level;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const Index b = team.league_rank();
    ExpmBatchedItem<T> item = first;
    if (items.extent(0) > 0) {
      item = items(b);
    } else {
      item.from += b * from_step;
      item.to += b * to_step;
    }
    ExpmBatchedInfo found = ExpmBatchedInfo::done;
    if (item.n > 0) {
      void* const memory =
          team.team_scratch(level).get_shmem(static_cast<std::ptrdiff_t>(SmallExponential<T>::bytes(item.n)));
      SmallExponential<T> exponential(team, memory, item.n, choices);
      found = exponential.run(item);
      exponential.store(item, found == ExpmBatchedInfo::done);
    }
    if (info.extent(0) > 0) {
      Kokkos::single(Kokkos::PerTeam(team), [&] { info(b) = static_cast<int>(found); });
    }
  }
};

template <Scalar T>
void launch(const ExecutionSpace& space, ExponentialsOfBatch<T>& kernel, Index count, int largest,
            const ExpmBatchedOptions& options) {
  require(largest <= largest_expm_batched, "expm_batched: n = ", largest, "; expected at most ", largest_expm_batched);
  require(kernel.info.extent(0) == 0 || static_cast<Index>(kernel.info.extent(0)) == count, "expm_batched: info has ",
          kernel.info.extent(0), " places for ", count, " matrices");
  require(options.tolerance >= 0.0 && options.tolerance < 1.0, "expm_batched: tolerance ", options.tolerance,
          "; expected at least 0 (0: unit round-off) and less than 1");
  if (count == 0) {
    return;
  }
  kernel.choices = choices_for<Real<T>>(std::max(options.tolerance, static_cast<double>(unit_roundoff<T>)));
  // Limit of the near memory: several teams share that of a GPU's multiprocessor; CPUs have none of their own.
  const auto near = std::min<std::size_t>(40 * 1024, static_cast<std::size_t>(BatchTeams::scratch_size_max(0)));
  const std::size_t bytes = SmallExponential<T>::bytes(std::max(largest, 1));
  kernel.level = bytes + 64 <= near ? 0 : 1;
  const auto policy = [&](int threads) {
    return BatchTeams(space, static_cast<int>(count), threads)
        .set_scratch_size(kernel.level, Kokkos::PerTeam(static_cast<int>(bytes) + 64));
  };
  const int most = on_host ? 1 : policy(1).team_size_max(kernel, Kokkos::ParallelForTag());
  Kokkos::parallel_for("heddle::expm::batched", policy(std::min(most, largest <= 16 ? 64 : 256)), kernel);
}

}  // namespace

template <Scalar T>
void expm_batched(const ExecutionSpace& space, const ExpmBatchedItem<T>& first, Index from_step, Index to_step,
                  Index count, const ExpmBatchedInfos& info, const ExpmBatchedOptions& options) {
  ExponentialsOfBatch<T> kernel{{}, first, from_step, to_step, info, {}, 0};
  launch<T>(space, kernel, count, first.n, options);
}

template <Scalar T>
void expm_batched(const ExecutionSpace& space, std::span<const ExpmBatchedItem<T>> items, const ExpmBatchedInfos& info,
                  const ExpmBatchedOptions& options) {
  using Items = Kokkos::View<ExpmBatchedItem<T>*, MemorySpace>;
  const Items list(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::expm::batch_items"), items.size());
  const auto host = Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), list);
  std::copy(items.begin(), items.end(), host.data());
  Kokkos::deep_copy(space, list, host);
  space.fence("heddle::expm::batch_items");
  int largest = 0;
  for (const ExpmBatchedItem<T>& item : items) largest = std::max(largest, item.n);
  ExponentialsOfBatch<T> kernel{list, {}, 0, 0, info, {}, 0};
  launch<T>(space, kernel, static_cast<Index>(items.size()), largest, options);
}

#define HEDDLE_INSTANTIATE(T)                                                                                        \
  template void expm_batched<T>(const ExecutionSpace&, const ExpmBatchedItem<T>&, Index, Index, Index,               \
                                const ExpmBatchedInfos&, const ExpmBatchedOptions&);                                 \
  template void expm_batched<T>(const ExecutionSpace&, std::span<const ExpmBatchedItem<T>>, const ExpmBatchedInfos&, \
                                const ExpmBatchedOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::compiled
