// Exchange of shared points and sides between ranks, and reports over all ranks.
#include "search/faces/distributed.hpp"

namespace heddle::search::impl {

void move_cells(const ExecutionSpace& space, const Kokkos::View<Index*, MemorySpace>& cells, Index by) {
  Kokkos::parallel_for(
      "heddle::search::move_cells",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::size_t>>(space, 0, cells.extent(0)),
      KOKKOS_LAMBDA(std::size_t i) { cells(i) += by; });
}

Kokkos::View<const std::uint32_t*, MemorySpace> bits_of_several(const Communicator& comm,
                                                                const Kokkos::View<std::uint32_t*, MemorySpace>& bits) {
  const auto host = host_copy(comm.space(), bits);
  const std::size_t words = host.extent(0);
  const auto ranks = static_cast<std::size_t>(comm.size());
  // Each rank combines one run of words.
  std::vector<std::vector<std::uint32_t>> out;
  out.reserve(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    out.emplace_back(host.data() + words * r / ranks, host.data() + words * (r + 1) / ranks);
  }
  const auto in = comm.exchange(std::move(out));
  std::vector<std::uint32_t> once(in.front().size());
  std::vector<std::uint32_t> twice(once.size());
  for (const std::vector<std::uint32_t>& theirs : in) {
    for (std::size_t k = 0; k < once.size(); ++k) {
      twice[k] |= once[k] & theirs[k];
      once[k] |= theirs[k];
    }
  }
  const auto all = comm.exchange(std::vector<std::vector<std::uint32_t>>(ranks, twice));
  std::uint32_t* to = host.data();
  for (const std::vector<std::uint32_t>& part : all) to = std::copy(part.begin(), part.end(), to);
  const Kokkos::View<std::uint32_t*, MemorySpace> several(
      Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::search::shared_points"), words);
  Kokkos::deep_copy(comm.space(), several, host);
  comm.space().fence("heddle::search::shared_points");
  return several;
}

std::vector<Verdict> verdicts_on(const Communicator& comm, const std::vector<TravellingSide>& sides,
                                 const SearchOptions& options, SearchReport& report) {
  const ExecutionSpace& space = comm.space();
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto owner_of = [&](const TravellingSide& side) {
    Word hash = 0;
    for (const Index point : side.points) hash = mixed_bits(hash + static_cast<Word>(point));
    return static_cast<std::size_t>(hash % ranks);
  };
  std::vector<std::vector<TravellingSide>> out(ranks);
  for (const TravellingSide& side : sides) out[owner_of(side)].push_back(side);
  const auto in = comm.exchange(std::move(out));

  std::vector<TravellingSide> mine;
  for (const std::vector<TravellingSide>& theirs : in) mine.insert(mine.end(), theirs.begin(), theirs.end());
  std::vector<Index> points;
  for (const TravellingSide& side : mine) points.insert(points.end(), std::begin(side.points), std::end(side.points));
  const Kokkos::View<Index**, Kokkos::LayoutRight, MemorySpace> keys(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::search::sides"), mine.size(), 4);
  Kokkos::deep_copy(space, keys,
                    Kokkos::View<const Index**, Kokkos::LayoutRight, Kokkos::HostSpace>(points.data(), mine.size(), 4));
  // In one pass and without timing: these sides are few, and the phase is timed as a whole.
  const Duplicates same = search::find_duplicates(
      space, keys, {.algorithm = options.algorithm, .hash = options.hash, .sorting = options.sorting});
  report.memory = std::max(report.memory, same.report.memory);
  const auto group = host_copy(space, same.group);
  const auto count = host_copy(space, same.count);
  // Sides arrive by rank and in order, so the first of a group has the lowest number.
  const auto first = host_copy(space, same.first);
  std::vector<std::vector<Verdict>> answers(ranks);
  std::size_t s = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    for (std::size_t k = 0; k < in[r].size(); ++k, ++s) {
      const auto its = static_cast<std::size_t>(group(s));
      answers[r].push_back({mine[static_cast<std::size_t>(first(its))].number, std::min<Index>(3, count(its))});
    }
  }
  const auto back = comm.exchange(std::move(answers));
  std::vector<std::size_t> next(ranks);
  std::vector<Verdict> verdicts;
  for (const TravellingSide& side : sides) {
    const std::size_t owner = owner_of(side);
    verdicts.push_back(back[owner][next[owner]++]);
  }
  return verdicts;
}

void mark_verdicts(const ExecutionSpace& space, const std::vector<TravellingSide>& sides,
                   const std::vector<Verdict>& verdicts, Index cells_before, const SideMarks& marks) {
  // One list of sides that are alone, one of sides that at least two others equal, by cell and side.
  for (const bool crowds : {false, true}) {
    std::vector<Index> slots;
    for (std::size_t s = 0; s < sides.size(); ++s) {
      if (verdicts[s].count != (crowds ? 3 : 1)) continue;
      const Index cell = sides[s].number / numbers_a_cell - cells_before;
      slots.push_back(cell * marks.per_item + sides[s].number % numbers_a_cell);
    }
    const Kokkos::View<Index*, MemorySpace> list(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::search::verdicts"), slots.size());
    Kokkos::deep_copy(space, list, Kokkos::View<const Index*, Kokkos::HostSpace>(slots.data(), slots.size()));
    Kokkos::parallel_for(
        "heddle::search::verdicts",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::size_t>>(space, 0, slots.size()),
        KOKKOS_LAMBDA(std::size_t i) {
          if (crowds) {
            marks.many(list(i));
          } else {
            marks.alone(list(i));
          }
        });
    space.fence("heddle::search::verdicts");
  }
}

Index number_faces(const Communicator& comm, const std::vector<Index>& first, std::vector<Index>& numbers) {
  // All ranks get the first sides of all ranks, sorted.
  const auto in = comm.exchange(std::vector<std::vector<Index>>(static_cast<std::size_t>(comm.size()), first));
  std::vector<Index> all;
  for (const std::vector<Index>& theirs : in) all.insert(all.end(), theirs.begin(), theirs.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  numbers.clear();
  for (const Index side : first) {
    numbers.push_back(static_cast<Index>(std::lower_bound(all.begin(), all.end(), side) - all.begin()));
  }
  return static_cast<Index>(all.size());
}

void combine_reports(const Communicator& comm, SearchReport& report) {
  report.collisions = comm.all_reduce(report.collisions, Reduction::sum);
  // The maximum is the algorithm of all ranks: sort_by_id, which partition may have fallen back to on some, is the
  // last.
  std::array<Index, 4> most = {static_cast<Index>(report.algorithm), report.iterations, report.passes, report.memory};
  comm.all_reduce(std::span<Index>(most), Reduction::maximum);
  report.algorithm = static_cast<Algorithm>(most[0]);
  report.iterations = static_cast<int>(most[1]);
  report.passes = static_cast<int>(most[2]);
  report.memory = most[3];

  // Ranks may have had different phases. Names, each ended by a newline, and times are gathered separately.
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<char> names;
  std::vector<double> seconds;
  for (const Phase& phase : report.phases) {
    names.insert(names.end(), phase.name.begin(), phase.name.end());
    names.push_back('\n');
    seconds.push_back(phase.seconds);
  }
  const auto all_names = comm.exchange(std::vector(ranks, names));
  const auto all_seconds = comm.exchange(std::vector(ranks, seconds));
  report.phases.clear();
  for (std::size_t r = 0; r < ranks; ++r) {
    auto begin = all_names[r].begin();
    for (const double theirs : all_seconds[r]) {
      const auto end = std::find(begin, all_names[r].end(), '\n');
      const std::string name(begin, end);
      begin = end + 1;
      const auto found = std::find_if(report.phases.begin(), report.phases.end(),
                                      [&](const Phase& phase) { return phase.name == name; });
      if (found == report.phases.end()) {
        report.phases.push_back({name, theirs});
      } else {
        found->seconds = std::max(found->seconds, theirs);
      }
    }
  }
}

}  // namespace heddle::search::impl
