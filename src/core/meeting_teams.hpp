// Synchronisation of the teams of one kernel on a GPU by words in memory, without a fence.
#pragma once

#include "core/simd.hpp"
#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace heddle::impl {

/// Threads of a warp, which exchange registers.
inline constexpr int lanes_of_warp = 32;

/// Teams that all run at the same time, whatever else the device does: one for each multiprocessor. Teams that wait for
/// one another must not be more.
inline Index resident_teams(const ExecutionSpace& space) {
  return std::max<Index>(1, static_cast<Index>(space.concurrency()) / 2048);
}

/// Words by which one thread sends data to others at once: each is 32 bits of data and, above them, the number of the
/// step that they belong to, so that no fence is needed, and a waiting thread has the data when the number is right
/// (as the small messages of NCCL are sent).
struct MarkedWords {
  // A volatile word is read from, and written to, the memory that all teams share.
  volatile std::uint64_t* words;

  KOKKOS_INLINE_FUNCTION void write(int k, std::uint32_t step, std::uint32_t data) const {
    words[k] = std::uint64_t{step} << 32U | data;
  }
  /// Words first, first + stride, ...: all of them are asked for before the first is waited for.
  template <int count>
  KOKKOS_INLINE_FUNCTION void wait(int first, int stride, std::uint32_t step, std::uint32_t (&data)[count]) const {
    bool all = false;
    while (!all) {
      std::uint64_t word[count];
      HEDDLE_UNROLL
      for (int k = 0; k < count; ++k) word[k] = words[first + k * stride];
      all = true;
      HEDDLE_UNROLL
      for (int k = 0; k < count; ++k) {
        data[k] = static_cast<std::uint32_t>(word[k]);
        all = all && static_cast<std::uint32_t>(word[k] >> 32U) == step;
      }
    }
  }
};

/// Memory for the words of one kernel after the other, and the numbers of their steps.
class WordsOfSteps {
 public:
  WordsOfSteps() = default;
  WordsOfSteps(const ExecutionSpace& space, const std::string& label, Index count)
      : words_(Kokkos::view_alloc(space, label), static_cast<std::size_t>(count)) {}

  [[nodiscard]] std::uint64_t* data() const { return words_.data(); }
  /// First of `count` step numbers of a kernel that no word has yet. Ordered on `space`.
  std::uint32_t next(const ExecutionSpace& space, int count) {
    constexpr std::uint32_t most_of_kernel = 1U << 16U;
    if (next_ > std::uint32_t{0} - most_of_kernel) {
      Kokkos::deep_copy(space, words_, std::uint64_t{0});
      next_ = 1;
    }
    const std::uint32_t begin = next_;
    next_ += static_cast<std::uint32_t>(count);
    return begin;
  }

 private:
  Kokkos::View<std::uint64_t*, MemorySpace> words_;
  std::uint32_t next_ = 1;
};

/// A candidate row for the pivot.
struct Proposal {
  std::uint64_t rank;  ///< Value of pivot_rank().
  int position;        ///< Number of the row in the panel.
  int from;            ///< Number of the warp or team that proposes it.
};
/// Reduces proposals to that of the largest rank, or, of equal ones, the first position.
struct FirstOfLargest {
  using reducer = FirstOfLargest;
  using value_type = Proposal;
  using result_view_type = Kokkos::View<Proposal, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

  Proposal* result;
  KOKKOS_INLINE_FUNCTION void join(Proposal& to, const Proposal& from) const {
    if (from.rank > to.rank || (from.rank == to.rank && from.position < to.position)) to = from;
  }
  KOKKOS_INLINE_FUNCTION void init(Proposal& value) const { value = {0, 1 << 30, 0}; }
  KOKKOS_INLINE_FUNCTION Proposal& reference() const { return *result; }
  [[nodiscard]] result_view_type view() const { return result_view_type(result); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool references_scalar() const { return true; }
};

/// Best proposal of the lanes of a team whose vectors are warps, on each of them.
template <class Team> KOKKOS_INLINE_FUNCTION Proposal best_of_warp(const Team& team, const Proposal& mine) {
  Proposal best;
  const FirstOfLargest reducer{&best};
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(team, lanes_of_warp), [&](int, Proposal& value) { reducer.join(value, mine); },
      reducer);
  return best;
}
/// The number of this lane in its warp.
template <class Team> KOKKOS_INLINE_FUNCTION int lane_of(const Team& team) {
  int lane = 0;
  Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes_of_warp), [&](int l) { lane = l; });
  return lane;
}
/// Wait for all lanes of a warp; each then sees what the others wrote.
template <class Team> KOKKOS_INLINE_FUNCTION void meet_in_warp(const Team& team) {
  Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes_of_warp), [](int) {});
}

/// Agreement of all teams of a kernel on the best of their rows, once in each step, by the first warp of each. A lane
/// sends and reads `words_of_lane` words of a row at a time, 32 bits each, even if the row has fewer.
template <int words_of_lane, bool with_notes> struct BestRowOfTeams {
  static constexpr int lanes = lanes_of_warp;
  static constexpr int words_of_proposal = with_notes ? 4 : 3;
  static constexpr int words_of_row = lanes * words_of_lane;
  static constexpr int words_of_team = words_of_proposal + words_of_row;

  std::uint64_t* words;  ///< Two sets for each team, for alternate steps.
  int teams;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION MarkedWords words_of(std::uint32_t step, int team) const {
    return {words + (static_cast<int>(step & 1U) * teams + team) * words_of_team};
  }
  /// Send this team's proposal, a note and a row; return the best proposal of all teams, whose row is then in
  /// `best_row` and, on lane `from` % lanes of it, whose note is in `note`.
  template <class Team>
  KOKKOS_INLINE_FUNCTION Proposal agree(const Team& team, int lane, std::uint32_t step, const Proposal& mine,
                                        std::uint32_t& note, const std::uint32_t* row, std::uint32_t* best_row) const {
    const MarkedWords out = words_of(step, team.league_rank());
    if (lane < words_of_proposal) {
      out.write(lane, step,
                lane == 0   ? static_cast<std::uint32_t>(mine.rank)
                : lane == 1 ? static_cast<std::uint32_t>(mine.rank >> 32U)
                : lane == 2 ? static_cast<std::uint32_t>(mine.position)
                            : note);
    }
    HEDDLE_UNROLL
    for (int k = 0; k < words_of_lane; ++k) {
      out.write(words_of_proposal + k * lanes + lane, step, row[k * lanes + lane]);
    }
    Proposal best;
    FirstOfLargest{&best}.init(best);
    for (int other = lane; other < teams; other += lanes) {
      std::uint32_t data[words_of_proposal];
      words_of(step, other).wait(0, 1, step, data);
      FirstOfLargest{&best}.join(best, {std::uint64_t{data[1]} << 32U | data[0], static_cast<int>(data[2]), other});
      if constexpr (with_notes) {
        if (best.from == other) note = data[3];
      }
    }
    best = best_of_warp(team, best);
    std::uint32_t data[words_of_lane];
    words_of(step, best.from).wait(words_of_proposal + lane, lanes, step, data);
    HEDDLE_UNROLL
    for (int k = 0; k < words_of_lane; ++k) best_row[k * lanes + lane] = data[k];
    return best;
  }
};

}  // namespace heddle::impl
