// When each part of a distributed product ran on one rank.
#pragma once

#include <heddle/core/scalar.hpp>

#include <string_view>
#include <vector>

namespace heddle {

/// `product`: one tile's local product. `receive`: a band of A or B, or a tile of C, on its way into this rank's
/// memory. `send`: a band or tile of this rank's on its way out, or held for a rank that has not asked for it yet.
/// `wait`: the rank had no product to run.
enum class TimelineKind { product, receive, send, wait };

[[nodiscard]] std::string_view to_string(TimelineKind kind);

/// One interval. Times are seconds since the product began on this rank; where transfers are recorded, ranks begin
/// together, after a barrier. Each rank has a clock of its own.
struct TimelineInterval {
  TimelineKind kind = TimelineKind::product;
  double begin = 0.0;
  double end = 0.0;
  char operand = 'C';    ///< 'A', 'B' or 'C': what travelled; 'C' for products and waits.
  int row_band = -1;     ///< Of a product or a tile of C.
  int column_band = -1;  ///< Likewise; for bands of A and B the number of the band is in the field it counts.
  int peer = -1;         ///< The other rank of a transfer.
  double bytes = 0.0;    ///< Of a transfer.
  int lane = 0;          ///< Products that overlap run on different lanes.
};

/// Intervals of one rank, by kind in order of their begin.
using Timeline = std::vector<TimelineInterval>;

/// Share of the time that transfers into this rank were under way which its products covered, 0 to 1; 1 where nothing
/// travelled.
[[nodiscard]] double hidden_share(const Timeline& timeline);

}  // namespace heddle
