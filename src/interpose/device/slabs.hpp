// Products of matrices in host memory on the device: as large parts of them as its memory takes.
#pragma once

#include "interpose/blas/product.hpp"
#include "interpose/device/copies.hpp"
#include <heddle/blas/blas.hpp>

#include <stdexcept>

namespace heddle::impl::interpose {

struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// multiply() by `context`'s device, in `memory` bytes of its memory: rows of op(A) and columns of op(B) by slabs, C by
/// panels of columns, one of which is computed while the last one goes home and the next one comes. If more than one
/// slab is needed, all of them travel twice: to be probed, and to be multiplied. False, and nothing done, where the
/// inner dimension is too large for any slab. Blocks. Throws what the device's runtime reports, and Interrupted for
/// it where parts of C were written before.
template <Scalar T>
[[nodiscard]] bool multiply_in_slabs(const blas::Context& context, HostCopies& copies, const Product<T>& product,
                                     double memory);

}  // namespace heddle::impl::interpose
