// What the operations of this room have in common of their options: those of the products of matrices.
#pragma once

#include "dist/arguments.hpp"
#include <heddle/gemm/gemm.hpp>

#include <vector>

namespace heddle::impl {

/// For require_alike(), behind an operation's own.
void add_product_options(std::vector<Argument>& arguments, int complex_products, const GemmOptions& options);

/// Throws Error(argument), with the operation's name in front, where products can't be made with these options, or
/// where the tolerance is none.
void require_product_options(const char* operation, double tolerance, int complex_products, const GemmOptions& options);

}  // namespace heddle::impl
