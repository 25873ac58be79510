// Column panels of a distributed matrix, for files that rank 0 reads and writes.
#include "io/matrix/panels.hpp"

#include "core/gibibytes.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>

namespace heddle::impl {

std::vector<Panel> panels_of(const Placement& whole, Index width) {
  const CyclicAxis& rows = whole.row_axis();
  const CyclicAxis& columns = whole.column_axis();
  const Index period = columns.block * columns.processes;
  std::vector<Panel> panels;
  const auto append = [&](Range range, Index block) {
    panels.push_back({range, Placement::block_cyclic(rows.extent, range.size(), rows.block, block, rows.processes,
                                                     columns.processes, whole.first_rank())
                                 .in_order(whole.order())
                                 .begun_at(whole.first_row(), whole.first_column())});
  };
  for (Index begin = 0; begin < columns.extent;) {
    Index end = std::min(begin + width, columns.extent);
    if (columns.processes == 1) {
      append({begin, end}, end - begin);
    } else if (rows.processes == 1 && period > width) {
      // Every block is on one rank.
      end = std::min(end, (begin / columns.block + 1) * columns.block);
      panels.push_back({{begin, end}, Placement::on_rank(rows.extent, end - begin, whole.owner(0, begin))});
    } else {
      end = std::min(begin + std::max(width / period, Index{1}) * period, columns.extent);
      append({begin, end}, columns.block);
    }
    begin = end;
  }
  return panels;
}

Placement place_matrix(const Communicator& comm, const PlacementChoice& place, const MatrixFileInfo& info) {
  if (place) {
    return comm.together([&] {
      const Placement placement = place(info.rows, info.columns);
      require(placement.rows() == info.rows && placement.columns() == info.columns,
              "read_matrix: the placement is of a ", placement.rows(), " x ", placement.columns(), " matrix; expected ",
              info.rows, " x ", info.columns);
      return placement;
    });
  }
  return Placement::row_bands(info.rows, info.columns, comm.size());
}

void refuse_for_memory(const Communicator& comm, const std::filesystem::path& path, const Placement& placement,
                       const MatrixFileInfo& info, std::size_t bytes_each) {
  const Index rows = placement.local_rows(comm.rank());
  const Index columns = placement.local_columns(comm.rank());
  const double bytes = static_cast<double>(bytes_each) * static_cast<double>(rows) * static_cast<double>(columns);
  throw Error(ErrorKind::input, message_of(path.string(), ": a ", info.rows, " x ", info.columns,
                                           " matrix does not fit: rank ", comm.rank(), " has no memory for its ", rows,
                                           " x ", columns, " elements, ", gibibytes(bytes)));
}

MatrixFileInfo broadcast_info(const Communicator& comm, MatrixFileInfo info) {
  comm.broadcast(std::span(&info, 1), 0);
  return info;
}

void require_readable(const std::filesystem::path& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  const int reason = errno;
  if (file == nullptr) {
    throw Error(ErrorKind::input, message_of(path.string(), ": can't be opened: ", std::strerror(reason)));
  }
  std::fclose(file);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(ErrorKind::input, message_of(path.string(), ": is a folder, not a file"));
  }
}

}  // namespace heddle::impl
