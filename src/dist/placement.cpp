// Block-cyclic placements and their index maps.
#include <heddle/core/error.hpp>
#include <heddle/dist/placement.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

namespace heddle {
namespace {

// Return the indices of a band, of which `ranks` hold all indices of an extent.
Index band_of(Index extent, int ranks) {
  return std::max<Index>(extent / ranks + (extent % ranks > 0 ? 1 : 0), 1);
}

}  // namespace

Index CyclicAxis::count_below(int process, Index global) const {
  // Whole rounds of all processes, then the blocks of the round that global is in.
  const Index round = block * processes;
  const Index rest = global % round - block * process;
  return global / round * block + std::clamp(rest, Index{0}, block);
}

Placement Placement::on_rank(Index rows, Index columns, int rank) {
  return block_cyclic(rows, columns, std::max<Index>(rows, 1), std::max<Index>(columns, 1), 1, 1, rank);
}

Placement Placement::row_bands(Index rows, Index columns, int ranks) {
  require(ranks >= 1, "row_bands: ", ranks, " ranks; expected at least 1");
  return block_cyclic(rows, columns, band_of(rows, ranks), std::max<Index>(columns, 1), ranks, 1);
}

Placement Placement::column_bands(Index rows, Index columns, int ranks) {
  require(ranks >= 1, "column_bands: ", ranks, " ranks; expected at least 1");
  return block_cyclic(rows, columns, std::max<Index>(rows, 1), band_of(columns, ranks), 1, ranks);
}

Placement Placement::block_cyclic(Index rows, Index columns, Index block_rows, Index block_columns, int grid_rows,
                                  int grid_columns, int first_rank) {
  require(rows >= 0 && columns >= 0, "placement: ", rows, " x ", columns, " matrix; expected extents of at least 0");
  require(block_rows >= 1 && block_columns >= 1, "placement: blocks of ", block_rows, " x ", block_columns,
          "; expected at least 1 x 1");
  require(grid_rows >= 1 && grid_columns >= 1, "placement: grid of ", grid_rows, " x ", grid_columns,
          "; expected at least 1 x 1");
  require(first_rank >= 0, "placement: first rank ", first_rank, "; expected at least 0");
  constexpr Index most = std::numeric_limits<Index>::max();
  require(block_rows <= most / grid_rows && block_columns <= most / grid_columns, "placement: blocks of ", block_rows,
          " x ", block_columns, " on a grid of ", grid_rows, " x ", grid_columns,
          "; expected fewer than 2^63 rows and columns for all ranks together");
  require(Index{grid_rows} * grid_columns <= std::numeric_limits<int>::max() - first_rank, "placement: grid of ",
          grid_rows, " x ", grid_columns, " from rank ", first_rank, "; expected ranks below 2^31 - 1");
  Placement placement;
  placement.row_axis_ = {rows, block_rows, grid_rows};
  placement.column_axis_ = {columns, block_columns, grid_columns};
  placement.first_rank_ = first_rank;
  return placement;
}

Placement Placement::in_order(GridOrder order) const {
  Placement placement = *this;
  // In a grid of one row or column both are the same, and so are the placements then.
  placement.by_columns_ = order == GridOrder::column_major && row_axis_.processes > 1 && column_axis_.processes > 1;
  return placement;
}

Placement Placement::begun_at(int row, int column) const {
  require(row >= 0 && row < row_axis_.processes && column >= 0 && column < column_axis_.processes,
          "placement: the first block on process (", row, ", ", column, ") of a grid of ", row_axis_.processes, " x ",
          column_axis_.processes);
  Placement placement = *this;
  placement.first_row_ = row;
  placement.first_column_ = column;
  return placement;
}

Placement Placement::in(Residence residence) const {
  Placement placement = *this;
  placement.residence_ = residence;
  return placement;
}

std::string Placement::describe() const {
  if (residence_ == Residence::host) {
    return in(Residence::device).describe() + ", in host memory";
  }
  if (by_columns_ || first_row_ > 0 || first_column_ > 0) {
    const std::string plain = in_order(GridOrder::row_major).begun_at(0, 0).describe();
    return message_of(plain, by_columns_ ? " numbered along columns" : "", ", the first block on process (", first_row_,
                      ", ", first_column_, ")");
  }
  const std::string shape = message_of(rows(), " x ", columns());
  if (row_axis_.processes == 1 && column_axis_.processes == 1) {
    return message_of(shape, " on rank ", first_rank_);
  }
  if (column_axis_.processes == 1 && row_axis_.block * row_axis_.processes >= rows()) {
    return message_of(shape, " in ", row_axis_.processes, " row bands");
  }
  if (row_axis_.processes == 1 && column_axis_.block * column_axis_.processes >= columns()) {
    return message_of(shape, " in ", column_axis_.processes, " column bands");
  }
  return message_of(shape, " in ", row_axis_.block, " x ", column_axis_.block, " blocks over ", row_axis_.processes,
                    " x ", column_axis_.processes, " ranks");
}

namespace {

// "12x34" as two numbers.
std::optional<std::pair<Index, Index>> pair_of(std::string_view text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos) {
    return {};
  }
  const auto number = [](std::string_view word) -> std::optional<Index> {
    Index value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc{} && end == word.data() + word.size() ? std::optional(value) : std::nullopt;
  };
  const auto first = number(text.substr(0, cross));
  const auto second = number(text.substr(cross + 1));
  if (!first || !second) {
    return {};
  }
  return std::pair(*first, *second);
}

}  // namespace

Placement placement_from(const std::string& text, Index rows, Index columns, int ranks) {
  const std::string_view view = text;
  if (constexpr std::string_view host = "host:"; view.starts_with(host)) {
    return placement_from(text.substr(host.size()), rows, columns, ranks).in(Residence::host);
  }
  if (view == "rows") {
    return Placement::row_bands(rows, columns, ranks);
  }
  if (view == "columns") {
    return Placement::column_bands(rows, columns, ranks);
  }
  if (view.starts_with("rank:")) {
    int rank = -1;
    const auto [end, error] = std::from_chars(view.data() + 5, view.data() + view.size(), rank);
    if (error == std::errc{} && end == view.data() + view.size()) {
      require(rank >= 0 && rank < ranks, "placement '", text, "': there are ", ranks, " ranks, numbered from 0");
      return Placement::on_rank(rows, columns, rank);
    }
  }
  if (view.starts_with("cyclic:")) {
    const std::string_view rest = view.substr(7);
    const std::size_t colon = rest.find(':');
    const auto blocks = pair_of(rest.substr(0, colon));
    auto grid =
        colon == std::string_view::npos ? std::optional<std::pair<Index, Index>>{} : pair_of(rest.substr(colon + 1));
    if (blocks && colon == std::string_view::npos) {
      Index height = static_cast<Index>(std::sqrt(static_cast<double>(ranks)));
      while (ranks % height != 0) {
        --height;
      }
      grid = std::pair(height, ranks / height);
    }
    if (blocks && grid) {
      require(grid->first >= 1 && grid->second >= 1 && grid->first <= ranks && grid->second <= ranks / grid->first,
              "placement '", text, "': the grid needs more than the ", ranks, " ranks there are, or is empty");
      return Placement::block_cyclic(rows, columns, blocks->first, blocks->second, static_cast<int>(grid->first),
                                     static_cast<int>(grid->second));
    }
  }
  throw Error(ErrorKind::argument, message_of("placement '", text,
                                              "': expected rank:R, rows, columns, cyclic:MBxNB or cyclic:MBxNB:PxQ, "
                                              "with host: before it for host memory"));
}

}  // namespace heddle
