// Measurement of the rates of emulated products.
#include "comm/vendor/vendor.hpp"
#include "core/instantiate.hpp"
#include "emulation/residues.hpp"
#include "tuning/measuring.hpp"
#include <heddle/emulation/emulation.hpp>

namespace heddle::impl {

template <Scalar T> std::vector<MachineRates::GemmPoint> measure_emulated(const Communicator& comm, double seconds) {
  // Few points: small tiles are all overhead, and large ones near one rate.
  std::vector<Index> tiles =
      on_host ? std::vector<Index>{128, 256, 512, 1024} : std::vector<Index>{512, 1024, 2048, 4096, 8192};
  constexpr Index inner = on_host ? 1024 : 8192;
  // No more than half of what is free on any rank's device: operands, their residues and the sums.
  const double free = comm.all_reduce(static_cast<double>(vendor::memory_info().free), Reduction::minimum);
  const auto bytes = [&](Index tile) {
    const double operands = static_cast<double>(tile) * (2.0 * inner + static_cast<double>(tile));
    const double residues = ResidueSystem::planes(field_of<T>, emulation_moduli<T>(inner));
    return operands * (sizeof(T) + residues * sizeof(std::int32_t));
  };
  while (tiles.size() > 1 && vendor::memory_info().total > 0 && bytes(tiles.back()) > 0.5 * free) tiles.pop_back();
  const Index most = tiles.back();
  const auto A = make_operand<T>(comm, most, inner);
  const auto B = make_operand<T>(comm, inner, most);
  const auto C = make_operand<T>(comm, most, most);
  const blas::Context context(comm.space());
  std::vector<MachineRates::GemmPoint> points;
  double left = seconds;
  double last = 0.0;
  for (const Index tile : tiles) {
    // A tile twice as large takes four times as long.
    if (!points.empty() && 3.0 * 4.0 * last > left) {
      break;
    }
    EmulatedGemm<T> gemm(context, tile, tile, inner, {.look = false});
    const auto product = [&] {
      gemm(Operation::none, Operation::none, T{1}, block_of<T>(A, 0, tile, 0, inner), block_of<T>(B, 0, inner, 0, tile),
           T{0}, block_of<T>(C, 0, tile, 0, tile));
    };
    last = best_of(comm, 2, product);
    left -= 3.0 * last;
    points.push_back({tile,
                      flops_per_multiply_add<T> * static_cast<double>(tile) * static_cast<double>(tile) *
                          static_cast<double>(inner) / last,
                      0.0});
  }
  return points;
}

#define HEDDLE_INSTANTIATE(T) \
  template std::vector<MachineRates::GemmPoint> measure_emulated<T>(const Communicator&, double)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
