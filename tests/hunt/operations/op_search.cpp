// Equal keys and external faces against maps, by every algorithm and hash, on any ranks.
#include "hunt/operations.hpp"
#include "search/oracle.hpp"
#include <heddle/search/distributed.hpp>
#include <heddle/search/duplicates.hpp>

namespace heddle::hunt {
namespace {

using search::Algorithm;

// Draw words that collide, repeat, sit at the ends of their type, or differ in one bit.
std::int64_t hard_word(Random& random, long mood, std::int64_t base) {
  switch (mood) {
    case 0:
      return random.below(4);
    case 1:
      return static_cast<std::int64_t>(random.next());
    case 2:
      return random.any_of(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                           std::int64_t{0}, std::int64_t{-1}, std::int64_t{1});
    case 3:
      return base ^ static_cast<std::int64_t>(std::uint64_t{1} << random.below(64));
    case 4:
      return base + random.below(100);
    default:
      return random.below(1 << 20) << random.below(40);
  }
}
void draw_keys(Random& random, Case& one) {
  const Index n = random.one_in(15) ? random.between(1000, 20000) : random.extent(200);
  const Index words = random.one_in(3) ? 1 : random.one_in(10) ? random.between(6, 64) : random.between(1, 5);
  Integers& keys = one.add_integers("keys", 'n', n, 'w', words);
  const long mood = random.below(6);
  const auto base = static_cast<std::int64_t>(random.next());
  for (std::int64_t& word : keys.values) word = hard_word(random, mood, base);
  // Copies of other keys.
  for (Index i = 1; i < n; ++i) {
    if (!random.one_in(3)) continue;
    const Index from = random.below(i);
    for (Index w = 0; w < words; ++w) keys.at(i, w) = keys.at(from, w);
  }
  one.add_knob("search", random.below(13));
  one.add_knob("bytes", random.any_of(8L, 4L, 2L, 1L), 8);
  one.add_knob("unsigned", random.below(2));
  one.add_knob("rows together", random.below(2));
  one.add_knob("memory", random.any_of(0L, 0L, 1024L, 4096L));
}

template <class Word, class Layout> void run_keys_of(const Case& one, Verdict& verdict) {
  const Integers& given = one.integer("keys");
  const auto n = static_cast<std::size_t>(given.rows);
  const auto words = static_cast<std::size_t>(given.columns);
  const Kokkos::View<Word**, Layout, MemorySpace> keys("heddle::hunt::keys", n, words);
  const auto mirror = Kokkos::create_mirror_view(keys);
  std::map<std::vector<std::int64_t>, Index> groups;
  std::vector<Index> group;
  std::vector<Index> first;
  std::vector<Index> count;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<std::int64_t> key;
    for (std::size_t w = 0; w < words; ++w) {
      mirror(i, w) = static_cast<Word>(given.at(static_cast<Index>(i), static_cast<Index>(w)));
      key.push_back(static_cast<std::int64_t>(mirror(i, w)));
    }
    const auto [at, is_new] = groups.try_emplace(key, static_cast<Index>(first.size()));
    if (is_new) first.push_back(static_cast<Index>(i)), count.push_back(0);
    group.push_back(at->second);
    ++count[static_cast<std::size_t>(at->second)];
  }
  Kokkos::deep_copy(keys, mirror);
  const auto all = search::all_searches();
  search::SearchOptions options = all[static_cast<std::size_t>(one.knob("search")) % all.size()];
  options.memory = one.knob("memory");
  search::Duplicates found;
  const Thrown thrown = thrown_by([&] { found = search::find_duplicates(ExecutionSpace(), keys, options); });
  // The search refuses more than 4096 passes.
  if (thrown.any && options.memory != 0) return;
  verdict.holds("does not throw", !thrown.any, thrown.message);
  if (thrown.any) return;
  verdict.holds("group", search::host_vector(found.group) == group, search::name_of(options));
  verdict.holds("first", search::host_vector(found.first) == first, search::name_of(options));
  verdict.holds("count", search::host_vector(found.count) == count, search::name_of(options));
}
template <class Word> void run_keys_in(const Case& one, Verdict& verdict) {
  one.knob("rows together") != 0 ? run_keys_of<Word, Kokkos::LayoutRight>(one, verdict)
                                 : run_keys_of<Word, Kokkos::LayoutLeft>(one, verdict);
}
void run_keys(const Case& one, Verdict& verdict) {
  const bool is_unsigned = one.knob("unsigned") != 0;
  switch (one.knob("bytes")) {
    case 1:
      return is_unsigned ? run_keys_in<std::uint8_t>(one, verdict) : run_keys_in<std::int8_t>(one, verdict);
    case 2:
      return is_unsigned ? run_keys_in<std::uint16_t>(one, verdict) : run_keys_in<std::int16_t>(one, verdict);
    case 4:
      return is_unsigned ? run_keys_in<std::uint32_t>(one, verdict) : run_keys_in<std::int32_t>(one, verdict);
    default:
      return is_unsigned ? run_keys_in<std::uint64_t>(one, verdict) : run_keys_in<std::int64_t>(one, verdict);
  }
}

// Draw cells by rows: kind, ghost mark, eight points. Few points make sides meet, fold and repeat; or the cells form a
// grid.
void draw_cells(Random& random, Case& one) {
  const Index n = random.one_in(10) ? random.between(300, 3000) : random.extent(60);
  Integers& cells = one.add_integers("cells", 'n', n, '1', 10);
  const bool wide = random.one_in(2);
  const std::int64_t points = random.any_of(4L, 9L, 30L, 1000L);
  const std::int64_t base =
      wide ? random.any_of(std::int64_t{1} << 40, std::int64_t{1} << 31, (std::int64_t{1} << 62)) : 0;
  const std::int64_t apart = wide ? random.any_of(std::int64_t{1}, std::int64_t{1} << 30, std::int64_t{1} << 50) : 1;
  const CellKind kinds[] = {CellKind::tetrahedron, CellKind::hexahedron, CellKind::voxel,
                            CellKind::wedge,       CellKind::pyramid,    CellKind::triangle,
                            CellKind::vertex,      CellKind::quad,       CellKind::line};
  const bool uniform = random.one_in(3);
  const CellKind only = kinds[random.below(5)];
  for (Index c = 0; c < n; ++c) {
    const CellKind kind = uniform ? only : kinds[random.below(random.one_in(6) ? 9 : 5)];
    cells.at(c, 0) = static_cast<std::int64_t>(kind);
    cells.at(c, 1) = random.one_in(8) ? random.between(1, 255) : 0;
    const std::int64_t start = random.below(points);
    for (Index p = 0; p < 8; ++p) {
      const std::int64_t point = random.one_in(2) ? (start + p) % points : random.below(points);
      cells.at(c, 2 + p) = (base + point * apart) & std::numeric_limits<std::int64_t>::max();
    }
    // Repeat the preceding cell, or mirror it.
    if (c > 0 && random.one_in(5)) {
      for (Index p = 0; p < 10; ++p) cells.at(c, p) = cells.at(c - 1, p);
    }
  }
  one.add_knob("search", random.below(13));
  one.add_knob("ghosts", random.below(4), 3);  // 3: none are marked
  one.add_knob("narrow", wide ? 0 : random.below(2));
  one.add_knob("memory", random.any_of(0L, 0L, 4096L));
  one.add_knob("dealing", random.below(100));
}

template <PointId Id> void run_cells_of(const World& world, const Case& one, Verdict& verdict) {
  const Integers& given = one.integer("cells");
  search::Cells cells;
  search::Cells mine;
  std::vector<std::uint8_t> ghosts;
  std::vector<std::uint8_t> my_ghosts;
  std::set<Index> marked;
  const int ranks = world.all.size();
  for (Index c = 0; c < given.rows; ++c) {
    auto kind = static_cast<CellKind>(given.at(c, 0));
    if (corners_of(kind) == 0) kind = CellKind::vertex;
    search::Cell cell{kind, {}};
    for (int p = 0; p < corners_of(kind); ++p) cell.points.push_back(given.at(c, 2 + p));
    const auto ghost = static_cast<std::uint8_t>(one.knob("ghosts") == 3 ? 0 : given.at(c, 1));
    if (ghost != 0) marked.insert(c);
    cells.push_back(cell);
    ghosts.push_back(ghost);
    // Contiguous parts in order of rank, as the search numbers cells.
    if (c * ranks / std::max<Index>(given.rows, 1) == world.all.rank())
      mine.push_back(cell), my_ghosts.push_back(ghost);
  }
  const auto all = search::all_searches();
  search::ExternalFacesOptions options;
  options.search = all[static_cast<std::size_t>(one.knob("search")) % all.size()];
  options.search.memory = one.knob("memory");
  options.ghosts = static_cast<search::GhostCells>(one.knob("ghosts") % 3);
  using search::GhostCells;
  const auto judged = [&](const std::string& where, const search::ExternalFaces<Id>& found,
                          const search::Expected& expected) {
    verdict.holds("external faces" + where, search::listed(found.external) == expected.external,
                  search::name_of(options.search));
    verdict.holds("nonmanifold faces" + where, search::listed(found.nonmanifold) == expected.nonmanifold,
                  search::name_of(options.search));
    verdict.holds("numbers of nonmanifold faces" + where,
                  search::host_vector(found.nonmanifold_face) == expected.nonmanifold_face);
    verdict.holds("counts" + where, found.report.cells == expected.cells && found.report.faces == expected.sides &&
                                        found.report.degenerate_sides == expected.flat &&
                                        found.report.external == static_cast<Index>(expected.external.size()));
  };
  auto mesh = search::mixed_mesh<Id>(cells);
  if (one.knob("ghosts") != 3) mesh.ghosts = search::device_view(ghosts);
  search::ExternalFaces<Id> found;
  const Thrown thrown = thrown_by([&] { found = search::external_faces(ExecutionSpace(), mesh, options); });
  if (thrown.any && options.search.memory != 0) return;
  verdict.holds("does not throw", !thrown.any, thrown.message);
  if (thrown.any) return;
  const std::set<Index> none;
  judged("", found,
         search::expected_faces(cells, options.ghosts == GhostCells::drop ? marked : none,
                                options.ghosts == GhostCells::hide ? marked : none));
  // The search over ranks drops ghosts unless they are kept.
  auto part = search::mixed_mesh<Id>(mine);
  if (one.knob("ghosts") != 3) part.ghosts = search::device_view(my_ghosts);
  const auto spread = search::external_faces(world.all, part, options);
  const auto expected = search::expected_faces(cells, options.ghosts == GhostCells::keep ? none : marked);
  const auto of_rank = search::listed(spread.external);
  const Index before = [&] {
    Index sum = 0;
    std::vector<Index> sizes(static_cast<std::size_t>(ranks));
    const auto size = static_cast<Index>(of_rank.size());
    world.all.all_gather(std::span<const Index>(&size, 1), std::span<Index>(sizes));
    for (int r = 0; r < world.all.rank(); ++r) sum += sizes[static_cast<std::size_t>(r)];
    return sum;
  }();
  const bool fits = before + static_cast<Index>(of_rank.size()) <= static_cast<Index>(expected.external.size());
  verdict.holds("external faces over ranks",
                fits && std::equal(of_rank.begin(), of_rank.end(), expected.external.begin() + before));
  verdict.holds("counts over ranks", spread.report.cells == expected.cells && spread.report.faces == expected.sides &&
                                         spread.report.degenerate_sides == expected.flat &&
                                         spread.report.external == static_cast<Index>(expected.external.size()));
}

}  // namespace

void draw_duplicates(Random& random, Case& one) {
  draw_keys(random, one);
}
void run_duplicates(const World&, const Case& one, Verdict& verdict) {
  run_keys(one, verdict);
}
void draw_faces(Random& random, Case& one) {
  draw_cells(random, one);
}
void run_faces(const World& world, const Case& one, Verdict& verdict) {
  one.knob("narrow") != 0 ? run_cells_of<std::int32_t>(world, one, verdict)
                          : run_cells_of<std::int64_t>(world, one, verdict);
}

}  // namespace heddle::hunt
