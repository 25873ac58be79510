// A distributed matrix as a sequence of column panels, each of which rank 0 can hold whole.
#pragma once

#include <heddle/dist/matrix.hpp>
#include <heddle/io/matrix_file.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <vector>

namespace heddle::impl {

/// Consecutive columns, and the placement that the matrix's own placement gives them as a matrix by themselves.
struct Panel {
  Range columns;
  Placement placement;
};

/// Panels of about `width` columns that cover the matrix from the left. The columns of a panel are dealt out like those
/// of the whole only from a column where the grid's first process begins; panels are wider where the distribution's
/// period is.
[[nodiscard]] std::vector<Panel> panels_of(const Placement& whole, Index width);

/// Columns that fit into 64 MiB, at least one.
template <Scalar T> [[nodiscard]] Index panel_width(Index rows) {
  constexpr Index bytes = Index{64} << 20;
  return std::max<Index>(1, bytes / (std::max<Index>(rows, 1) * static_cast<Index>(sizeof(T))));
}

/// The panel's part of A, sharing its elements.
template <Scalar T> [[nodiscard]] DistributedMatrix<T> panel_matrix(const DistributedMatrix<T>& A, const Panel& panel) {
  const int rank = A.communicator().rank();
  const Range mine = A.placement().local_columns(rank, panel.columns);
  const std::pair<Index, Index> rows(0, panel.placement.local_rows(rank));
  const MatrixView<T> local = Kokkos::subview(A.local(), rows, std::pair(mine.begin, mine.end));
  return {A.communicator(), panel.placement, local};
}

/// Placement for a matrix that is being read.
[[nodiscard]] Placement place_matrix(const Communicator& comm, const PlacementChoice& place,
                                     const MatrixFileInfo& info);

/// Throws Error(input) saying what this rank would need, at so many bytes an element.
[[noreturn]] void refuse_for_memory(const Communicator& comm, const std::filesystem::path& path,
                                    const Placement& placement, const MatrixFileInfo& info, std::size_t bytes_each);

/// A matrix of that shape, placed; Error(input), on every rank alike, where a rank has no memory for its part.
template <Scalar T>
[[nodiscard]] DistributedMatrix<T> new_matrix(const Communicator& comm, const std::filesystem::path& path,
                                              const PlacementChoice& place, const MatrixFileInfo& info) {
  const Placement placement = place_matrix(comm, place, info);
  DistributedMatrix<T> A;
  comm.on_each([&] {
    try {
      A = DistributedMatrix<T>(comm, placement, "heddle::io::matrix");
    } catch (const Error& error) {
      if (placement.rank_end() > comm.size()) throw;
      refuse_for_memory(comm, path, placement, info, sizeof(T));
    } catch (const std::exception&) {
      refuse_for_memory(comm, path, placement, info, sizeof(T));
    }
  });
  return A;
}

/// Fills A from rank 0, where `read(columns, panel)` is called for the panels in order; what it throws is thrown on
/// every rank. Not called for a matrix without elements.
template <Scalar T, class Read> void scatter_panels(const DistributedMatrix<T>& A, const Read& read) {
  // Without elements there is nothing to read, however many rows or columns there are.
  if (A.rows() == 0 || A.columns() == 0) return;
  const Communicator& comm = A.communicator();
  const auto panels = panels_of(A.placement(), panel_width<T>(A.rows()));
  HostMatrix<T> storage;
  for (const Panel& panel : panels) {
    HostMatrix<T> whole;
    comm.on_rank(0, [&] {
      if (static_cast<Index>(storage.extent(1)) < panel.columns.size()) {
        storage = HostMatrix<T>();
        storage = HostMatrix<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::io::panel"), A.rows(),
                                panel.columns.size());
      }
      whole = Kokkos::subview(storage, Kokkos::ALL, std::pair<Index, Index>(0, panel.columns.size()));
      read(panel.columns, whole);
    });
    scatter(whole, 0, panel_matrix(A, panel));
  }
}

/// Hands A to rank 0, where `write(columns, panel)` is called for the panels in order; what it throws is thrown on
/// every rank.
template <Scalar T, class Write> void gather_panels(const DistributedMatrix<T>& A, const Write& write) {
  for (const Panel& panel : panels_of(A.placement(), panel_width<T>(A.rows()))) {
    const HostMatrix<T> whole = gather(panel_matrix(A, panel), 0);
    A.communicator().on_rank(0, [&] { write(panel.columns, whole); });
  }
}

/// Shares what rank 0 learned about a file.
[[nodiscard]] MatrixFileInfo broadcast_info(const Communicator& comm, MatrixFileInfo info);

/// Throws Error(input) for a file that holds complex numbers where T is real.
template <Scalar T> void require_field(const std::filesystem::path& path, const MatrixFileInfo& info) {
  if (info.complex && !is_complex<T>) {
    throw Error(ErrorKind::input, message_of(path.string(), ": holds complex numbers where real ones are expected"));
  }
}

/// The matrix that a Reader(path, more...) on rank 0 gives a panel at a time. It has info() and read_columns().
template <Scalar T, class Reader, class... More>
[[nodiscard]] DistributedMatrix<T> read_by_panels(const Communicator& comm, const std::filesystem::path& path,
                                                  const PlacementChoice& place, const More&... more) {
  return comm.together([&] {
    std::optional<Reader> reader;
    MatrixFileInfo info;
    comm.on_rank(0, [&] {
      reader.emplace(path, more...);
      info = reader->info();
      require_field<T>(path, info);
    });
    info = broadcast_info(comm, info);
    const auto A = new_matrix<T>(comm, path, place, info);
    scatter_panels(A, [&](Range columns, const HostMatrix<T>& panel) { reader->read_columns(columns, panel); });
    return A;
  });
}

/// Throws Error(input) unless `path` is a file that can be opened for reading.
void require_readable(const std::filesystem::path& path);

}  // namespace heddle::impl
