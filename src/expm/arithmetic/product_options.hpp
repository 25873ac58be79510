// Options that the operations in this folder share: those of the products of matrices.
#pragma once

#include "dist/arguments.hpp"
#include <heddle/gemm/gemm.hpp>

#include <vector>

namespace heddle::impl {

/// Append these options to an operation's own arguments for require_alike().
void add_product_options(std::vector<Argument>& arguments, int complex_products, const GemmOptions& options);

/// Throw Error(argument), prefixed with the operation's name, if products can't be computed with these options, or if
/// the tolerance is invalid.
void require_product_options(const char* operation, double tolerance, int complex_products, const GemmOptions& options);

}  // namespace heddle::impl
