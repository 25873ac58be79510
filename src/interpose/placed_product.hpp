// Emulated products in doubles, by sums whose rounding is known.
#pragma once

#include "interpose/product.hpp"

namespace heddle::impl::interpose {

/// Computes the product, as EmulatedGemm defines it, by so many threads: integers, as doubles that hold them, are
/// multiplied by two fused multiply-adds, so that what an addition loses is known; an element whose last bit that
/// leaves open is summed in integers. Factors for which no number of moduli is enough are multiplied by exact sums.
/// False, and nothing done, where the processor has no vectors for it, or the factors want more than the usual number
/// of moduli and k is beyond 32, or it is beyond most_exact_inner and the usual number is not known to be enough.
template <Scalar T> [[nodiscard]] bool multiply_placed(const Product<T>& product, int threads);

}  // namespace heddle::impl::interpose
