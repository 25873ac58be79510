// Prediction of the time and memory of an exponential from the rates of a machine.
#include "expm/arithmetic/product_options.hpp"
#include "expm/dense/scheme.hpp"
#include "libm/functions.hpp"
#include <heddle/expm/predict.hpp>

#include <cmath>
#include <limits>

namespace heddle {
namespace {

using impl::Evaluations;
using impl::ProductCosts;
using impl::Scheme;

Evaluations evaluations_of(ExpmMethod method) {
  switch (method) {
    case ExpmMethod::automatic:
      return Evaluations::all;
    case ExpmMethod::paterson_stockmeyer:
      return Evaluations::paterson_stockmeyer;
    case ExpmMethod::few_products:
      return Evaluations::few_products;
    default:
      throw Error(ErrorKind::argument, message_of("predict_expm: method ", to_string(method),
                                                  ": expected automatic, paterson-stockmeyer or few-products"));
  }
}

// A rank's part of one n x n matrix of T.
struct Part {
  double bytes;
  double received;       // Bytes received for row bands to become column bands.
  double between_nodes;  // The part of `received` from other nodes.
};
template <RealScalar T> Part part_of(const ClusterShape& cluster, double ranks, Index n) {
  const double bytes = sizeof(T) * static_cast<double>(n) * static_cast<double>(n) / ranks;
  return {bytes, bytes * (ranks - 1) / ranks, bytes * (ranks - cluster.ranks_per_node) / ranks};
}

}  // namespace

template <RealScalar T>
ExpmPrediction predict_expm(const ClusterShape& cluster, Index n, double norm, bool is_complex,
                            const MachineRates& rates, const ExpmOptions& options) {
  const Kokkos::Timer timer;
  require(std::isfinite(norm) && norm >= 0.0, "predict_expm: norm ", norm, "; expected a finite number >= 0");
  impl::require_product_options("predict_expm", options.tolerance, options.complex_products, options.gemm);
  GemmOptions in_one_layer = options.gemm;
  in_one_layer.layers = 1;
  const Evaluations evaluations = evaluations_of(options.method);
  const double tolerance = options.tolerance > 0.0 ? options.tolerance : static_cast<double>(unit_roundoff<T>);
  const int parts = is_complex ? 2 : 1;
  const int cost = is_complex ? options.complex_products : 1;
  const ProductCosts costs{cost, cost, cost};
  const int before = impl::scaling_before_powers(norm, std::numeric_limits<T>::max_exponent);
  const Scheme scheme = impl::choose_scheme(impl::PowerNorms(std::ldexp(norm, -before)), tolerance, costs, evaluations);

  ExpmPrediction found;
  found.product = predict_gemm<T>(cluster, n, n, n, rates, in_one_layer);
  found.degree = scheme.degree;
  found.squarings = before + scheme.squarings;
  found.products = impl::products_of(scheme, costs) + before * cost;
  const double ranks = static_cast<double>(cluster.nodes) * cluster.ranks_per_node;
  const Part part = part_of<T>(cluster, ranks, n);
  // Both parts of complex factors travel, for `cost` real products; their sum for three products is made in place.
  const double factors = static_cast<double>(found.products) / cost * parts;
  const auto over = [](double bytes, double bandwidth) { return bandwidth > 0.0 ? bytes / bandwidth : 0.0; };
  const double node_rate = rates.node_bandwidth > 0.0 ? rates.node_bandwidth : rates.link_bandwidth;
  const double travels =
      over(part.received - part.between_nodes, rates.link_bandwidth) + over(part.between_nodes, node_rate);
  // A right factor is read and written when it travels; sums read every power and write once; exp(A) is delivered.
  const double copies = 2.0 * factors + (scheme.blocks * (scheme.powers + 1.0) + 2.0) * parts;
  found.between_seconds = factors * travels + over(copies * part.bytes, rates.memory_bandwidth);
  found.seconds = found.products * found.product.seconds + found.between_seconds;
  const double flops = 2.0 * libm::pow(static_cast<double>(n), 3) * found.products;
  found.gflops = found.seconds > 0.0 ? flops / found.seconds / 1e9 : 0.0;
  found.bytes_received = found.products * found.product.bytes_received + factors * ranks * part.received;
  found.bytes_between_nodes = found.products * found.product.bytes_between_nodes + factors * ranks * part.between_nodes;
  // A and its powers, a right factor, a sum, its square, and exp(A); a product's own three are among them.
  constexpr int of_product = 3;
  found.memory_bytes = found.product.memory_bytes + ((scheme.powers + 5.0) * parts - of_product) * part.bytes;
  found.planning_seconds = timer.seconds();
  return found;
}

template ExpmPrediction predict_expm<float>(const ClusterShape&, Index, double, bool, const MachineRates&,
                                            const ExpmOptions&);
template ExpmPrediction predict_expm<double>(const ClusterShape&, Index, double, bool, const MachineRates&,
                                             const ExpmOptions&);

}  // namespace heddle
