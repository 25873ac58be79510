// Checks of the options that all operations on products of matrices share.
#include "expm/arithmetic/product_options.hpp"

#include <heddle/core/error.hpp>

namespace heddle::impl {

void add_product_options(std::vector<Argument>& arguments, int complex_products, const GemmOptions& options) {
  arguments.insert(arguments.end(),
                   {argument("complex_products", complex_products), argument("gemm.tile", options.tile),
                    argument("gemm.choice", static_cast<int>(options.choice)), argument("gemm.layers", options.layers),
                    argument("gemm.arithmetic", static_cast<int>(options.arithmetic)),
                    argument("gemm.math", static_cast<int>(options.math)),
                    argument("gemm.emulation.moduli", options.emulation.moduli),
                    argument("gemm.emulation.look", options.emulation.look)});
}

void require_product_options(const char* operation, double tolerance, int complex_products,
                             const GemmOptions& options) {
  require(options.layers <= 1, operation, ": gemm.layers ", options.layers, "; products of an exponential have 1");
  require(options.math == MathMode::automatic, operation, ": gemm.math ", to_string(options.math),
          "; products of an exponential have auto");
  require(tolerance >= 0.0 && tolerance < 1.0, operation, ": tolerance ", tolerance,
          "; expected at least 0 (0: unit round-off) and less than 1");
  require(complex_products == 3 || complex_products == 4, operation, ": complex_products ", complex_products,
          "; expected 3 or 4");
}

}  // namespace heddle::impl
