// When a rank computed, received and sent each part of a distributed product.
#pragma once

#include <heddle/core/scalar.hpp>

#include <string_view>
#include <vector>

namespace heddle {

/// Activity of a rank in an interval. `product`: it computed the local product of one tile. `receive`: a band of A or
/// B, or a tile of C, was on its way into this rank's memory. `send`: a band or tile of this rank was on its way out,
/// or was held for a rank that had not asked for it yet. `wait`: the rank had no product to run.
enum class TimelineKind { product, receive, send, wait };

/// The name of a kind: "product", "receive", "send" or "wait".
[[nodiscard]] std::string_view to_string(TimelineKind kind);

/// One interval of a rank's timeline. Times are seconds since the product began on this rank. Each rank has a clock of
/// its own; where transfers are recorded, all ranks begin together, after a barrier.
struct TimelineInterval {
  TimelineKind kind = TimelineKind::product;  ///< What the rank did.
  double begin = 0.0;                         ///< Begin of the interval, in seconds.
  double end = 0.0;                           ///< End of the interval, in seconds.
  char operand = 'C';    ///< The matrix whose band or tile travelled: 'A', 'B' or 'C'; 'C' for products and waits.
  int row_band = -1;     ///< Band of rows of the tile of C, or the band of A that travelled; -1 where there is none.
  int column_band = -1;  ///< Band of columns of the tile of C, or the band of B that travelled; -1 where there is none.
  int peer = -1;         ///< The other rank of a transfer; -1 for products and waits.
  double bytes = 0.0;    ///< Bytes that a transfer moved; 0 for products and waits.
  int lane = 0;          ///< Number of the lane (instance) of a product; products that overlap run on different lanes.
  int layer = 0;         ///< Layer of the inner dimension that the tile or band belongs to; 0 for waits.
};

/// The intervals of one rank, by kind, each kind in order of its beginnings.
using Timeline = std::vector<TimelineInterval>;

/// The share of the time of transfers into this rank during which the rank also ran a product, from 0 to 1; it is 1
/// where nothing travelled.
[[nodiscard]] double hidden_share(const Timeline& timeline);

}  // namespace heddle
