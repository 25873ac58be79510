// Emulated products in doubles, by sums whose rounding is known.
#pragma once

#include "interpose/product.hpp"

namespace heddle::impl::interpose {

/// Computes the product, as EmulatedGemm defines it, by so many threads: integers, as doubles that hold them, are
/// multiplied by two fused multiply-adds, so that what an addition loses is known; an element whose last bit that
/// leaves open is summed in integers. Of up to 32 products for an element factors may want more moduli than usual, and
/// those for which no number is enough are multiplied by exact sums. False, and nothing done, where there are more
/// products of such factors, or the processor has no vectors for it.
template <Scalar T> [[nodiscard]] bool multiply_placed(const Product<T>& product, int threads);

}  // namespace heddle::impl::interpose
