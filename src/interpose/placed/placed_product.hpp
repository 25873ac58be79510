// Emulated products in doubles, by sums whose rounding is known.
#pragma once

#include "interpose/blas/product.hpp"

#include <functional>

namespace heddle::impl::interpose {

/// Computes the product, as EmulatedGemm defines it, by so many threads: integers, as doubles that hold them, are
/// multiplied by two fused multiply-adds, so that what an addition loses is known; an element whose last bit that
/// leaves open is summed in integers. With up to 32 products for an element, factors may want more moduli than usual,
/// and those for which no number is enough are multiplied by exact sums. With more products `look` says how many moduli
/// the factors want, 0 where no number is enough; it is called once at most. False, and nothing done, where that is
/// more than usual, or the processor has no vectors for it.
template <Scalar T>
[[nodiscard]] bool multiply_placed(const Product<T>& product, int threads, const std::function<int()>& look);
/// The same with a look by moduli_by_planes().
template <Scalar T> [[nodiscard]] bool multiply_placed(const Product<T>& product, int threads) {
  return multiply_placed<T>(product, threads, [&] { return moduli_by_planes(product, threads); });
}

}  // namespace heddle::impl::interpose
