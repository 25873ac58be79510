// The choice of tile, bands and arithmetic of a distributed product: pure functions of shape, options, rates and
// memory.
#pragma once

#include "gemm/plan/facts.hpp"
#include "gemm/plan/predict.hpp"

#include <cstddef>

namespace heddle::impl {

/// The memory that a plan may count on, the same on every rank.
struct MemoryLimits {
  /// For the bands of A, as GemmOptions::workspace_bytes has it; not 0.
  std::size_t workspace_bytes = std::size_t{1} << 30;
  /// For the residues of two bands of A and two of B, in bytes, where an emulated product's tile is left open; 0: no
  /// limit is known.
  double residue_bytes = 0.0;
};

/// Bytes of an element of type T and operations of one multiplication and addition.
template <Scalar T> inline constexpr ElementCost element_cost{sizeof(T), flops_per_multiply_add<T>};

/// The plan of a product C = op(A) op(B). The placements, operations, ranks, `blocks` and `half` of `shape` count; its
/// tile, layers and held bands are ignored. `rates`: options.rates, or typical ones where these are absent.
///
/// Native products are cut into GemmOptions::layers; where these are left open, into several where that is predicted to
/// pay. Emulated ones have one layer.
///
/// With Arithmetic::native or emulated the tile is options.tile, or the one that options.choice says (native) or of one
/// rank's share (emulated, less where its residues would not fit). With Arithmetic::automatic both plans are made and
/// the one predicted to be faster is taken, native where rates.emulated is empty. If that is the emulated one,
/// most_moduli is lowered to the largest number of moduli with which it is no slower than the native one, and products
/// that need more fall back to native ones.
///
/// Throws Error(argument) for a number of moduli that emulated products do not have. Not collective.
template <Scalar T>
[[nodiscard]] PlanFacts choose_plan(const Product& shape, const GemmOptions& options, const MachineRates& rates,
                                    const MemoryLimits& memory);

/// The same plan with emulation_taken.most_moduli lowered, no further than to `arithmetic.moduli`, until the residues
/// fit into `free_bytes` beside `other_bytes`. Native plans stay as they are. Not collective: give the least free
/// memory and the largest other needs of any rank, so that every rank has the same plan.
template <Scalar T> [[nodiscard]] PlanFacts limited_to_memory(PlanFacts facts, double free_bytes, double other_bytes);

}  // namespace heddle::impl
