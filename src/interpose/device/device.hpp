// Products on the machine's GPU, where HEDDLE_BLAS_DEVICE=1 asks for that.
#pragma once

#include "interpose/blas/product.hpp"

namespace heddle::impl::interpose {

/// multiply() on the device, with the same bits. False, and nothing done, where none is asked for, where the product is
/// so small that copies would take longer than it does here, and where there is none or it fails, which is said once on
/// the standard error stream. The first product that is large enough starts the device.
template <Scalar T> [[nodiscard]] bool multiply_on_device(const Product<T>& product);

}  // namespace heddle::impl::interpose
