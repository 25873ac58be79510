// The table of `heddle study transpose`, and its tables for people.
#pragma once

#include "studies/table.hpp"
#include "studies/transpose/access.hpp"

#include <optional>
#include <string>
#include <vector>

namespace heddle::driver {

/// One way to transpose one matrix, or to copy it.
struct TransposeRow {
  std::string device;  ///< The device that ran it; the sequential loop runs on one core of `processor`.
  std::string processor;
  std::string scalar;
  Index rows = 0;
  Index columns = 0;
  std::string variant;  ///< "sequential", "copy", "automatic", or one with blocks: "naive", "tiled", "tiled-padded".
  int block_rows = 0;   ///< 0: without blocks.
  int block_columns = 0;
  std::optional<double> seconds;  ///< Empty if the device can't run it.
  double bytes = 0.0;             ///< Bytes read and written.
  double copy_seconds = 0.0;
  double sequential_seconds = 0.0;
  std::optional<AccessCounts> counts;  ///< Counts of variants with blocks.

  [[nodiscard]] double rate() const { return bytes / *seconds / 1e9; }
  [[nodiscard]] double share_of_copy() const { return copy_seconds / *seconds; }
  [[nodiscard]] double speed_up() const { return sequential_seconds / *seconds; }
};

[[nodiscard]] const StudyTable& transpose_table();
/// Return the row as it is in the table.
[[nodiscard]] std::string text_of(const TransposeRow& row);
/// Inverse of text_of(). Throws Error(input), beginning with `place`, for other text.
[[nodiscard]] TransposeRow transpose_row_of(const std::string& text, const std::string& place);

/// Return the fastest row of each device, scalar type, matrix and variant, in the order of their first ones.
[[nodiscard]] std::vector<TransposeRow> fastest_of(const std::vector<TransposeRow>& rows);
/// For people: each variant at its best block beside the copy.
void say_transpose_blocks(const Context& context, const std::vector<TransposeRow>& fastest);
/// For people: the milliseconds of every block, a table a device, scalar type, matrix and variant.
void say_transpose_milliseconds(const Context& context, const std::vector<TransposeRow>& rows);
/// For people: milliseconds and speed-ups over the sequential loop, a line a device, scalar type and matrix.
void say_transpose_speed_ups(const Context& context, const std::vector<TransposeRow>& fastest);
[[nodiscard]] nlohmann::ordered_json as_json(const TransposeRow& row);

}  // namespace heddle::driver
