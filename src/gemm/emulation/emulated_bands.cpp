#include "gemm/emulation/emulated_bands.hpp"

#include "core/instantiate.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::impl {
template <Scalar T>
EmulatedBands<T>::EmulatedBands(const ExecutionSpace& space, const Product& product, int bands_per_pass, int moduli,
                                const EmulationOptions& options)
    : op_a_(product.op_a),
      op_b_(product.op_b),
      scheme_(options.scheme),
      product_(space, std::min(product.tile, product.rows()), std::min(product.tile, product.columns()), moduli,
               options.workspace_bytes) {
  for (int k = 0; k < bands_per_pass; ++k) {
    slots_a_.push_back({{space, Factor::left, std::min(product.tile, product.rows()), product.inner()}});
  }
  slots_b_.push_back({{space, Factor::right, std::min(product.tile, product.columns()), product.inner()}});
  set_moduli(space, moduli);
}

template <Scalar T>
double EmulatedBands<T>::bytes(const Product& product, int bands_per_pass, int moduli,
                               const EmulationOptions& options) {
  using Vectors = QuantisedVectors<T>;
  const Index rows = std::min(product.tile, product.rows());
  const Index columns = std::min(product.tile, product.columns());
  const auto of_bands = [&](int bands, Index extent) {
    return bands * Vectors::bytes(extent, product.inner(), moduli);
  };
  const double of_slices =
      options.scheme == EmulationScheme::slices ? static_cast<double>(bytes_for_sums(options.workspace_bytes)) : 0.0;
  return of_slices + of_bands(bands_per_pass, rows) + of_bands(1, columns) +
         4.0 * static_cast<double>(EmulatedProduct<T>::sums_for(rows, columns, moduli, options.workspace_bytes));
}

template <Scalar T> void EmulatedBands<T>::start() {
  for (auto* const slots : {&slots_a_, &slots_b_}) {
    for (Slot& slot : *slots) slot.holds = Holds::nothing;
  }
}

template <Scalar T> void EmulatedBands<T>::set_moduli(const ExecutionSpace& space, int moduli) {
  product_.set_moduli(space, moduli);
  for (auto* const slots : {&slots_a_, &slots_b_}) {
    for (Slot& slot : *slots) {
      slot.band.reserve(space, moduli);
      if (slot.holds != Holds::nothing) slot.holds = Holds::norms;
    }
  }
}

template <Scalar T>
const QuantisedVectors<T>& EmulatedBands<T>::take(const ExecutionSpace& space, std::vector<Slot>& slots, int load,
                                                  Operation op, const MatrixView<const T>& band, Holds wanted) {
  Slot& slot = slots[static_cast<std::size_t>(load) % slots.size()];
  if (slot.holds == Holds::nothing || slot.load != load) {
    slot.band.measure(space, op, band);
    slot.holds = Holds::norms;
    slot.load = load;
  }
  if (slot.holds != wanted) {
    if (wanted == Holds::leading_bits) {
      slot.band.reserve(space, least_moduli);
      slot.band.take_leading(space, leading_width(slot.band.inner()), op, band);
    } else {
      slot.band.take(space, product_.system(), scheme_, op, band);
    }
    slot.holds = wanted;
  }
  return slot.band;
}

template <Scalar T>
typename EmulatedBands<T>::Operands EmulatedBands<T>::operands(const ExecutionSpace& space, const Step& step,
                                                               const MatrixView<const T>& A,
                                                               const MatrixView<const T>& B, Holds wanted) {
  return {op_a_,
          op_b_,
          A,
          B,
          &take(space, slots_a_, step.load_a, op_a_, A, wanted),
          &take(space, slots_b_, step.load_b, op_b_, B, wanted)};
}

template <Scalar T>
Spread EmulatedBands<T>::probe(const blas::Context& context, const Step& step, const MatrixView<const T>& A,
                               const MatrixView<const T>& B, Index decided) {
  const Operands bands = operands(context.space(), step, A, B, Holds::leading_bits);
  return product_.probe(context, bands, bands.left->vectors(), bands.right->vectors(), decided);
}

template <Scalar T>
void EmulatedBands<T>::multiply(const blas::Context& context, const Step& step, T alpha, const MatrixView<const T>& A,
                                const MatrixView<const T>& B, const MatrixView<T>& tile) {
  product_(context, alpha, operands(context.space(), step, A, B, Holds::residues), T{0}, tile);
}

Index emulated_tile(const Product& product, int planes, double memory) {
  const Index longer = std::max(product.rows(), product.columns());
  Index tile = std::max<Index>(1, (longer + product.ranks - 1) / product.ranks);
  if (memory > 0.0) {
    const double each = 4.0 * planes * static_cast<double>(std::max<Index>(1, product.inner()));
    tile = std::min(tile, std::max<Index>(1, static_cast<Index>(memory / each)));
  }
  return tile;
}

#define HEDDLE_INSTANTIATE(T) template class EmulatedBands<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
