// Checks of the arguments of a plan of products.
#include "gemm/plan/arguments.hpp"

#include "core/instantiate.hpp"
#include "core/memory/shared_storage.hpp"
#include "dist/arguments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace heddle::impl {
namespace {

void require_shapes(const Product& product) {
  const auto rows = [](Operation op, const Placement& p) { return op == Operation::none ? p.rows() : p.columns(); };
  const auto columns = [](Operation op, const Placement& p) { return op == Operation::none ? p.columns() : p.rows(); };
  require(columns(product.op_a, product.a) == rows(product.op_b, product.b) &&
              rows(product.op_a, product.a) == product.c.rows() &&
              columns(product.op_b, product.b) == product.c.columns(),
          "gemm: op(A) is ", rows(product.op_a, product.a), " x ", columns(product.op_a, product.a), ", op(B) is ",
          rows(product.op_b, product.b), " x ", columns(product.op_b, product.b), ", C is ", product.c.rows(), " x ",
          product.c.columns());
  for (const Placement* placement : {&product.a, &product.b, &product.c}) {
    require(placement->rank_end() <= product.ranks, "gemm: ", placement->describe(), " needs rank ",
            placement->rank_end() - 1, "; there are ", product.ranks, " ranks");
  }
}

// Bands are numbered by int, in all layers together.
void require_bands(const Product& product, const GemmOptions& options) {
  constexpr Index most = std::numeric_limits<int>::max();
  require(options.tile <= most, "gemm: tile ", options.tile, "; expected at most ", most);
  // The model chooses no smaller ones for large matrices.
  const Index tile = options.tile > 0 ? options.tile : 64;
  const Index longest = std::max(product.rows(), product.columns());
  require(longest / tile < most / std::max(options.layers, 1), "gemm: a C of ", product.rows(), " x ",
          product.columns(), " in tiles of ", tile, " and ", std::max(options.layers, 1),
          " layers; expected fewer than 2^31 bands");
}

// Refuse several layers for products that can only have one.
void require_layers(const Product& product, const GemmOptions& options) {
  if (options.layers <= 1) return;
  require(options.arithmetic == Arithmetic::native, "gemm: ", options.layers, " layers with the arithmetic ",
          to_string(options.arithmetic), "; emulated products, whose bits no cut may change, have one");
  require(!product.half, "gemm: ", options.layers, " layers of half of the tiles; expected one");
  for (const Placement* placement : {&product.a, &product.b, &product.c}) {
    require(placement->residence() == Residence::device, "gemm: ", options.layers,
            " layers of matrices in host memory (", placement->describe(), "); expected one");
  }
  require(product.inner() == 0 || options.layers <= product.inner(), "gemm: ", options.layers,
          " layers of an inner dimension of ", product.inner());
}

void require_options(const Product& product, const GemmOptions& options) {
  require(options.tile >= 0, "gemm: tile ", options.tile, "; expected at least 1, or 0 for the model's choice");
  require(options.layers >= 0, "gemm: ", options.layers, " layers; expected at least 1, or 0 for the model's choice");
  const int groups = std::gcd(std::max(options.layers, 1), product.ranks);
  require(options.grid.rows >= 0 && options.grid.columns >= 0 &&
              (options.grid == ProcessGrid{} ||
               std::int64_t{options.grid.rows} * options.grid.columns * groups == product.ranks),
          "gemm: a grid of ", options.grid.rows, " x ", options.grid.columns, " ranks",
          groups > 1 ? message_of(" for each of ", groups, " groups of layers") : std::string(), "; there are ",
          product.ranks);
  require_layers(product, options);
  require_bands(product, options);
  require(!product.half || product.rows() == product.columns(), "gemm: half of the tiles of a C of ", product.rows(),
          " x ", product.columns(), "; expected square");
  require(options.bands_per_pass >= 0, "gemm: bands_per_pass ", options.bands_per_pass, "; expected at least 0");
  require(options.emulation.scheme == EmulationScheme::residues || options.arithmetic != Arithmetic::automatic,
          "gemm: the arithmetic auto chooses among native and emulated products by residues, not slices");
  require(options.math == MathMode::automatic || options.arithmetic == Arithmetic::native, "gemm: math mode ",
          to_string(options.math), " with the arithmetic ", to_string(options.arithmetic),
          "; it is one of native products");
  if (options.rates) {
    const std::string trouble = trouble_with(*options.rates);
    require(trouble.empty(), "gemm: the rates given can't be used: ", trouble,
            "; measure_rates() measures them, and without rates a plan takes typical ones");
  }
}

std::string text_of(const MachineRates& rates) {
  std::string text = message_of(rates.memory_bandwidth, ' ', rates.link_bandwidth, ' ', rates.node_bandwidth, ' ',
                                rates.latency, ' ', rates.overlap, ' ', rates.node_overlap, ' ', rates.host_bandwidth,
                                ' ', rates.host_bandwidth_both_ways);
  for (const auto* points : {&rates.gemm, &rates.emulated}) {
    text += ';';
    for (const auto& point : *points) text += message_of(' ', point.tile, ' ', point.flops, ' ', point.warm_flops);
  }
  text += ';';
  for (const auto& point : rates.warm) text += message_of(' ', point.seconds, ' ', point.warmth);
  return text;
}

bool is_rate(double value) {
  return value > 0.0 && std::isfinite(value);
}

std::string trouble_with_points(const char* name, const std::vector<MachineRates::GemmPoint>& points) {
  Index last = 0;
  for (const MachineRates::GemmPoint& point : points) {
    if (point.tile <= last) return message_of(name, " has tile ", point.tile, " after ", last, ", which does not rise");
    if (!is_rate(point.flops)) return message_of(name, " has ", point.flops, " operations per second");
    if (point.warm_flops != 0.0 && !is_rate(point.warm_flops)) {
      return message_of(name, " has ", point.warm_flops, " warm_flops");
    }
    last = point.tile;
  }
  return {};
}

}  // namespace

std::string trouble_with(const MachineRates& rates) {
  if (rates.gemm.empty()) return "gemm holds no rate of any tile";
  for (const std::string& trouble :
       {trouble_with_points("gemm", rates.gemm), trouble_with_points("emulated", rates.emulated)}) {
    if (!trouble.empty()) return trouble;
  }
  double last = 0.0;
  for (const MachineRates::WarmPoint& point : rates.warm) {
    if (!(point.seconds > last)) return message_of("warm has ", point.seconds, " s after ", last, " s");
    if (!(point.warmth >= 0.0 && point.warmth <= 1.0)) return message_of("warm has a warmth of ", point.warmth);
    last = point.seconds;
  }
  if (!is_rate(rates.memory_bandwidth)) return message_of("memory_bandwidth is ", rates.memory_bandwidth);
  for (const auto& [name, value] :
       {std::pair("link_bandwidth", rates.link_bandwidth), std::pair("node_bandwidth", rates.node_bandwidth),
        std::pair("latency", rates.latency), std::pair("host_bandwidth", rates.host_bandwidth),
        std::pair("host_bandwidth_both_ways", rates.host_bandwidth_both_ways)}) {
    if (value != 0.0 && !is_rate(value)) return message_of(name, " is ", value);
  }
  for (const auto& [name, value] :
       {std::pair("overlap", rates.overlap), std::pair("node_overlap", rates.node_overlap)}) {
    if (!(value >= 0.0 && value <= 1.0)) return message_of(name, " is ", value);
  }
  return {};
}

void require_plan(const Communicator& comm, const std::string& scalar, const Product& product,
                  const GemmOptions& options) {
  std::vector<Argument> arguments;
  if (comm.size() > 1) {
    arguments = {{"the scalar type", scalar},
                 {"op(A)", std::string(to_string(product.op_a))},
                 argument("A", product.a),
                 {"op(B)", std::string(to_string(product.op_b))},
                 argument("B", product.b),
                 argument("C", product.c),
                 argument("tile", options.tile),
                 {"choice", std::string(to_string(options.choice))},
                 argument("grid.rows", options.grid.rows),
                 argument("grid.columns", options.grid.columns),
                 argument("layers", options.layers),
                 argument("bands_per_pass", options.bands_per_pass),
                 argument("half of the tiles", product.half),
                 argument("workspace_bytes", options.workspace_bytes),
                 {"rates", options.rates ? text_of(*options.rates) : "not given"},
                 {"arithmetic", std::string(to_string(options.arithmetic))},
                 {"math", std::string(to_string(options.math))},
                 {"emulation.scheme", std::string(to_string(options.emulation.scheme))},
                 argument("emulation.moduli", options.emulation.moduli),
                 argument("emulation.look", options.emulation.look),
                 argument("emulation.most_moduli", options.emulation.most_moduli),
                 {"emulation.fallback", std::string(to_string(options.emulation.fallback))},
                 argument("emulation.workspace_bytes", options.emulation.workspace_bytes),
                 argument("record_timeline", options.record_timeline)};
  }
  require_alike(comm, "gemm", arguments, [&] { require_plan(product, options); });
}

void require_plan(const Product& product, const GemmOptions& options) {
  require_shapes(product);
  require_options(product, options);
}

template <Scalar T>
void require_operands(const Communicator& comm, const Product& product, T alpha, const DistributedMatrix<T>& A,
                      const DistributedMatrix<T>& B, T beta, const DistributedMatrix<T>& C) {
  std::vector<Argument> arguments;
  if (comm.size() > 1) {
    arguments = {argument("alpha", alpha), argument("beta", beta)};
  }
  require_alike(comm, "gemm", arguments, [&] { require_operands<T>(comm, product, A, B, C); });
}

template <Scalar T>
void require_operands(const Communicator& comm, const Product& product, const DistributedMatrix<T>& A,
                      const DistributedMatrix<T>& B, const DistributedMatrix<T>& C) {
  const auto require_planned = [](const char* name, const Placement& planned, const Placement& given) {
    if (planned == given) return;
    throw Error(ErrorKind::argument,
                message_of("gemm: ", name, " is ", given.describe(), "; the plan is for ", planned.describe()));
  };
  require_planned("A", product.a, A.placement());
  require_planned("B", product.b, B.placement());
  require_planned("C", product.c, C.placement());
  require_same_ranks("gemm", "A", A, comm);
  require_same_ranks("gemm", "B", B, comm);
  require_same_ranks("gemm", "C", C, comm);
  require_apart("gemm", "A", A.local(), "C", C.local());
  require_apart("gemm", "B", B.local(), "C", C.local());
}

#define HEDDLE_INSTANTIATE(T)                                                                            \
  template void require_operands<T>(const Communicator&, const Product&, T, const DistributedMatrix<T>&, \
                                    const DistributedMatrix<T>&, T, const DistributedMatrix<T>&);        \
  template void require_operands<T>(const Communicator&, const Product&, const DistributedMatrix<T>&,    \
                                    const DistributedMatrix<T>&, const DistributedMatrix<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
