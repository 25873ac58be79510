// Gathering, hashing and edge counts of the faces that a search found.
#include "drivers/search/faces_list.hpp"

#include "drivers/support/process/sha256.hpp"
#include <heddle/search/duplicates.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

namespace heddle::driver {
namespace {

// Gather the elements of every rank on rank 0 in order of rank. Each rank holds its own and one piece besides.
template <class T> std::vector<T> gather_on_root(const Communicator& comm, std::vector<T> mine) {
  if (comm.size() == 1) return mine;
  constexpr Index piece_size = Index{1} << 22;
  const auto own = static_cast<Index>(mine.size());
  std::vector<Index> sizes(static_cast<std::size_t>(comm.size()));
  comm.all_gather(std::span<const Index>(&own, 1), std::span(sizes));
  if (comm.rank() == 0) {
    mine.reserve(static_cast<std::size_t>(std::accumulate(sizes.begin(), sizes.end(), Index{0})));
  }
  std::vector<T> piece;
  for (int rank = 1; rank < comm.size(); ++rank) {
    const Index size = sizes[static_cast<std::size_t>(rank)];
    for (Index begin = 0; begin < size; begin += piece_size) {
      const Index count = std::min(piece_size, size - begin);
      piece.resize(static_cast<std::size_t>(count));
      if (comm.rank() == rank) std::copy_n(mine.begin() + begin, count, piece.begin());
      comm.broadcast(std::span(piece), rank);
      if (comm.rank() == 0) mine.insert(mine.end(), piece.begin(), piece.end());
    }
  }
  if (comm.rank() != 0) mine.clear();
  return mine;
}

template <class To, class From> std::vector<To> on_host(const Kokkos::View<From*, MemorySpace>& view) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return std::vector<To>(host.data(), host.data() + host.extent(0));
}

template <class T> Kokkos::View<T*, Kokkos::HostSpace> view_of(const std::vector<T>& values) {
  const Kokkos::View<T*, Kokkos::HostSpace> view(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::driver::faces"), values.size());
  std::copy(values.begin(), values.end(), view.data());
  return view;
}

HostFaces faces_of(const std::vector<Index>& cell, const std::vector<std::uint8_t>& side,
                   const std::vector<Index>& corners, const std::vector<Index>& points) {
  std::vector<Index> offsets(corners.size() + 1, 0);
  for (std::size_t face = 0; face < corners.size(); ++face) offsets[face + 1] = offsets[face] + corners[face];
  return {view_of(cell), view_of(side), view_of(offsets), view_of(points)};
}

}  // namespace

template <PointId Id> HostFaces gathered(const Communicator& comm, const FaceList<Id>& mine) {
  const std::vector<Index> offsets = on_host<Index>(mine.offsets);
  std::vector<Index> corners(mine.cell.extent(0));
  for (std::size_t face = 0; face < corners.size(); ++face) corners[face] = offsets[face + 1] - offsets[face];
  const auto cell = gather_on_root(comm, on_host<Index>(mine.cell));
  const auto side = gather_on_root(comm, on_host<std::uint8_t>(mine.side));
  corners = gather_on_root(comm, std::move(corners));
  return faces_of(cell, side, corners, gather_on_root(comm, on_host<Index>(mine.points)));
}
template HostFaces gathered(const Communicator&, const FaceList<std::int32_t>&);
template HostFaces gathered(const Communicator&, const FaceList<std::int64_t>&);

std::vector<Index> gathered(const Communicator& comm, const Kokkos::View<Index*, MemorySpace>& mine) {
  return gather_on_root(comm, on_host<Index>(mine));
}

HostFaces chosen(const HostFaces& faces, const std::vector<bool>& keep) {
  std::vector<Index> cell;
  std::vector<std::uint8_t> side;
  std::vector<Index> corners;
  std::vector<Index> points;
  for (std::size_t face = 0; face < keep.size(); ++face) {
    if (!keep[face]) continue;
    cell.push_back(faces.cell(face));
    side.push_back(faces.side(face));
    corners.push_back(faces.offsets(face + 1) - faces.offsets(face));
    points.insert(points.end(), faces.points.data() + faces.offsets(face),
                  faces.points.data() + faces.offsets(face + 1));
  }
  return faces_of(cell, side, corners, points);
}

std::string digest_of(const HostFaces& faces) {
  Sha256 hash;
  for (std::size_t face = 0; face < faces.cell.extent(0); ++face) {
    const Index begin = faces.offsets(face);
    hash.add_numbers(&faces.cell(face), 1);
    hash.add(&faces.side(face), 1);
    hash.add_numbers(&faces.points(begin), static_cast<std::size_t>(faces.offsets(face + 1) - begin));
  }
  return hash.digest();
}

namespace {

// Count edges for which `is_one` is true of the number of faces with the edge; nothing for too long lists.
template <class Predicate>
std::optional<Index> edges_of(const ExecutionSpace& space, const HostFaces& faces, const Predicate& is_one) {
  constexpr Index most = Index{1} << 24;
  if (faces.size() > most) return {};
  const auto corners = static_cast<Index>(faces.points.extent(0));
  const Kokkos::View<Index**, Kokkos::LayoutRight, Kokkos::HostSpace> edges(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::driver::edges"), corners, 2);
  Index count = 0;
  for (Index face = 0; face < faces.size(); ++face) {
    const Index begin = faces.offsets(face);
    const Index size = faces.offsets(face + 1) - begin;
    for (Index corner = 0; corner < size; ++corner) {
      const Index one = faces.points(begin + corner);
      const Index other = faces.points(begin + (corner + 1) % size);
      if (one == other) continue;
      edges(count, 0) = std::min(one, other);
      edges(count, 1) = std::max(one, other);
      ++count;
    }
  }
  const auto keys = Kokkos::create_mirror_view_and_copy(
      MemorySpace(), Kokkos::subview(edges, std::pair<Index, Index>(0, count), Kokkos::ALL));
  const search::Duplicates found = search::find_duplicates(space, keys);
  const auto counts = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), found.count);
  return std::count_if(counts.data(), counts.data() + counts.extent(0), is_one);
}

}  // namespace

std::optional<Index> open_edges(const ExecutionSpace& space, const HostFaces& faces) {
  return edges_of(space, faces, [](Index each) { return each % 2 != 0; });
}

std::optional<Index> lone_edges(const ExecutionSpace& space, const HostFaces& faces) {
  return edges_of(space, faces, [](Index each) { return each == 1; });
}

}  // namespace heddle::driver
