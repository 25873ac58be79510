// The table of `heddle study transpose`, and its tables for people.
#include "studies/transpose/transpose_table.hpp"

#include "drivers/support/process/text.hpp"
#include "studies/transpose/transpose.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace heddle::driver {
namespace {

constexpr StudyTable table = {"transpose",
                              "device,processor,scalar,rows,columns,variant,block_rows,block_columns,seconds,"
                              "gbytes_per_second,share_of_copy,speed_up,read_transactions,write_transactions,"
                              "conflicts"};

template <class Number> bool parse(std::string_view text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}
template <class Number> bool parse_or_none(std::string_view text, Number& value) {
  return text.empty() || parse(text, value);
}

// "4096 x 4096 float"
std::string matrix_of(const TransposeRow& row) {
  return format("%lld x %lld %s", static_cast<long long>(row.rows), static_cast<long long>(row.columns),
                row.scalar.c_str());
}
bool same_case(const TransposeRow& one, const TransposeRow& other) {
  return one.device == other.device && one.scalar == other.scalar && one.rows == other.rows &&
         one.columns == other.columns;
}
std::string block_of(const TransposeRow& row) {
  return row.block_rows > 0 ? format("%d x %d", row.block_rows, row.block_columns) : std::string();
}

}  // namespace

const StudyTable& transpose_table() {
  return table;
}

std::string text_of(const TransposeRow& row) {
  std::ostringstream out;
  out.precision(6);
  out << row.device << ',' << row.processor << ',' << row.scalar << ',' << row.rows << ',' << row.columns << ','
      << row.variant << ',';
  if (row.block_rows > 0) out << row.block_rows << ',' << row.block_columns;
  if (row.block_rows == 0) out << ',';
  out << ',';
  if (row.seconds) {
    out << *row.seconds << ',' << row.rate() << ',' << row.share_of_copy() << ',' << row.speed_up();
  } else {
    out << ",,,";
  }
  out << ',';
  if (row.counts) {
    out << row.counts->reads << ',' << row.counts->writes << ',' << row.counts->conflicts;
  } else {
    out << ",,";
  }
  return out.str();
}

TransposeRow transpose_row_of(const std::string& text, const std::string& place) {
  const auto cells = split(text, ',');
  TransposeRow row;
  double seconds = -1.0;
  double rate = 0.0;
  double share = 0.0;
  double speed_up = 0.0;
  AccessCounts counts{0.0, 0.0, 0};
  const bool good = cells.size() == 15 && parse(cells[3], row.rows) && parse(cells[4], row.columns) &&
                    parse_or_none(cells[6], row.block_rows) && parse_or_none(cells[7], row.block_columns) &&
                    parse_or_none(cells[8], seconds) && parse_or_none(cells[9], rate) &&
                    parse_or_none(cells[10], share) && parse_or_none(cells[11], speed_up) &&
                    parse_or_none(cells[12], counts.reads) && parse_or_none(cells[13], counts.writes) &&
                    parse_or_none(cells[14], counts.conflicts) && row.rows > 0 && row.columns > 0 &&
                    (cells[8].empty() || (seconds > 0.0 && rate > 0.0 && share > 0.0 && speed_up > 0.0));
  if (!good) transpose_table().refuse_row(place, text);
  row.device = cells[0];
  row.processor = cells[1];
  row.scalar = cells[2];
  row.variant = cells[5];
  if (!cells[8].empty()) {
    row.seconds = seconds;
    row.bytes = rate * seconds * 1e9;
    row.copy_seconds = share * seconds;
    row.sequential_seconds = speed_up * seconds;
  }
  if (!cells[12].empty()) row.counts = counts;
  return row;
}

std::vector<TransposeRow> fastest_of(const std::vector<TransposeRow>& rows) {
  std::vector<TransposeRow> fastest;
  for (const TransposeRow& row : rows) {
    if (!row.seconds) continue;
    const auto found = std::find_if(fastest.begin(), fastest.end(), [&](const TransposeRow& other) {
      return same_case(row, other) && row.variant == other.variant;
    });
    if (found == fastest.end()) {
      fastest.push_back(row);
    } else if (*row.seconds < *found->seconds) {
      *found = row;
    }
  }
  return fastest;
}

void say_transpose_blocks(const Context& context, const std::vector<TransposeRow>& fastest) {
  context.say("matrix                        variant       best block     GB/s  of copy   reads  writes  conflicts");
  for (const TransposeRow& row : fastest) {
    std::string line = format("%-28s  %-12s  %-10s  %7.1f  %6.1f%%", matrix_of(row).c_str(), row.variant.c_str(),
                              block_of(row).c_str(), row.rate(), 100 * row.share_of_copy());
    if (row.counts) line += format("  %6.2f  %6.2f  %9d", row.counts->reads, row.counts->writes, row.counts->conflicts);
    context.say(line);
  }
}

void say_transpose_milliseconds(const Context& context, const std::vector<TransposeRow>& rows) {
  for (const TransposeRow& best : fastest_of(rows)) {
    if (best.block_rows == 0) continue;
    std::map<std::pair<int, int>, double> cells;  // Milliseconds by rows and columns of a block.
    std::set<int> heights;
    std::set<int> widths;
    for (const TransposeRow& row : rows) {
      if (!same_case(row, best) || row.variant != best.variant) continue;
      heights.insert(row.block_rows);
      widths.insert(row.block_columns);
      if (row.seconds) cells[{row.block_rows, row.block_columns}] = 1e3 * *row.seconds;
    }
    context.say(format("milliseconds of %s, %s on %s: rows of a block across, columns down, the least marked",
                       best.variant.c_str(), matrix_of(best).c_str(), best.device.c_str()));
    std::string line(7, ' ');
    for (const int height : heights) line += format("  %8d", height);
    context.say(line);
    for (const int width : widths) {
      line = format("%7d", width);
      for (const int height : heights) {
        const bool is_best = height == best.block_rows && width == best.block_columns;
        const auto found = cells.find({height, width});
        line += found == cells.end() ? format("  %8s", "-") : format(" %s%8.3g", is_best ? "*" : " ", found->second);
      }
      context.say(line);
    }
  }
}

void say_transpose_speed_ups(const Context& context, const std::vector<TransposeRow>& fastest) {
  std::vector<const TransposeRow*> cases;
  std::vector<std::string> variants;
  std::size_t widest = 6;
  for (const TransposeRow& row : fastest) {
    if (std::none_of(cases.begin(), cases.end(), [&](const TransposeRow* one) { return same_case(*one, row); })) {
      cases.push_back(&row);
    }
    if (row.variant == "copy" || row.variant == "sequential") continue;
    if (std::find(variants.begin(), variants.end(), row.variant) == variants.end()) variants.push_back(row.variant);
    widest = std::max(widest, row.device.size());
  }
  context.say("milliseconds, and how many times as fast as the sequential loop on one core of the same machine:");
  std::string line = format("%-*s  %-28s  %10s", static_cast<int>(widest), "device", "matrix", "sequential");
  for (const std::string& variant : variants) line += format("  %18s", variant.c_str());
  context.say(line);
  for (const TransposeRow* one : cases) {
    line = format("%-*s  %-28s  %10.3g", static_cast<int>(widest), one->device.c_str(), matrix_of(*one).c_str(),
                  1e3 * one->sequential_seconds);
    for (const std::string& variant : variants) {
      const auto found = std::find_if(fastest.begin(), fastest.end(), [&](const TransposeRow& row) {
        return same_case(row, *one) && row.variant == variant;
      });
      line += found == fastest.end() ? format("  %18s", "-")
                                     : format("  %8.3g (%6.3g x)", 1e3 * *found->seconds, found->speed_up());
    }
    context.say(line);
  }
}

nlohmann::ordered_json as_json(const TransposeRow& row) {
  nlohmann::ordered_json object = {{"device", row.device}, {"processor", row.processor}, {"scalar", row.scalar},
                                   {"rows", row.rows},     {"columns", row.columns},     {"variant", row.variant}};
  if (row.block_rows > 0) {
    object["block_rows"] = row.block_rows;
    object["block_columns"] = row.block_columns;
  }
  object["seconds"] = *row.seconds;
  object["gbytes_per_second"] = row.rate();
  object["share_of_copy"] = row.share_of_copy();
  object["speed_up"] = row.speed_up();
  if (row.counts) {
    object["read_transactions"] = row.counts->reads;
    object["write_transactions"] = row.counts->writes;
    object["conflicts"] = row.counts->conflicts;
  }
  return object;
}

bool looks_like_study(const std::filesystem::path& path) {
  return table.is(path);
}

}  // namespace heddle::driver
