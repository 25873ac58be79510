// Facts of a distributed product once it is planned. Nothing changes these facts while products run.
#pragma once

#include "gemm/plan/schedule.hpp"
#include <heddle/gemm/gemm.hpp>

#include <optional>
#include <vector>

namespace heddle::impl {

/// Arithmetic of the local products, as the caller asked for it and as the plan takes it.
struct ArithmeticChoice {
  Arithmetic asked = Arithmetic::native;
  /// Native or emulated, never automatic.
  Arithmetic taken = Arithmetic::native;
  EmulationOptions emulation_asked;
  /// As asked, but for `most_moduli` and `fallback`: see GemmReport::emulation_taken.
  EmulationOptions emulation_taken;
  /// Moduli of an emulated product before its factors are probed; 0 for a native one.
  int moduli = 0;

  [[nodiscard]] bool emulated() const { return taken == Arithmetic::emulated; }
};

/// Work and received data of all ranks together in one product.
struct Traffic {
  double multiply_adds = 0.0;
  double bytes_received = 0.0;            ///< Bytes of A, B and C from other ranks.
  double band_bytes_received = 0.0;       ///< Those of bytes_received of A and B.
  double bytes_between_nodes = 0.0;       ///< Those of bytes_received from other nodes.
  double band_bytes_between_nodes = 0.0;  ///< Those of band_bytes_received from other nodes.
};

struct PlanFacts {
  /// The shape of the product and its cut: `tile`, `grid_columns`, `layers`, `held_b` and `first_held_b` are chosen.
  Product product;
  /// Bands of op(A) that a rank holds while the bands of op(B) pass once.
  int bands_per_pass = 1;
  ArithmeticChoice arithmetic;
  MathMode math = MathMode::automatic;
  /// By the tile model; absent where the caller gave no rates, or none for the arithmetic taken.
  std::optional<double> predicted_seconds;
  /// Whether finished tiles of a C in host memory wait until the bands of A and B have crossed the bus.
  bool tiles_wait = false;
  Traffic traffic;
};

/// A plan and what its executor needs once.
struct Planned {
  PlanFacts facts;
  std::vector<RankSchedule> schedules;  ///< Schedules of all ranks.
  std::size_t tile_buffers = 0;         ///< Tiles of C that this rank holds at once.
};

}  // namespace heddle::impl
