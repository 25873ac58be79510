// The bands of A and B in pieces, and who sends these.
#pragma once

#include "gemm/plan/relays.hpp"

#include <vector>

namespace heddle::impl {

/// The part of a band that one rank owns.
struct CutPiece {
  int owner;
  bool is_block;  ///< See is_block(); of whole columns unless Product::blocks.
  double size;    ///< Elements.
};

struct CutBand {
  double size = 0.0;
  std::vector<CutPiece> pieces;  ///< By rising owner.
};

/// An operand's bands of all layers by their numbers.
struct CutOperand {
  std::vector<CutBand> bands;
  Relays relays;

  CutOperand(const Product& product, const PlanOperand& operand, const std::vector<RankSchedule>& schedules);
};

/// Both operands of a product.
struct Cut {
  CutOperand a;
  CutOperand b;

  Cut(const Product& product, const std::vector<RankSchedule>& schedules)
      : a(product, operand_a, schedules), b(product, operand_b, schedules) {}
};

/// workloads() of a product that is cut already.
[[nodiscard]] std::vector<Workload> workloads(const Product& product, const std::vector<RankSchedule>& schedules,
                                              const Cut& cut);

}  // namespace heddle::impl
