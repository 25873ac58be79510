// Emulated products of a plan's steps.
#include "gemm/run/emulated_bands.hpp"

#include "core/instantiate.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::impl {
template <Scalar T>
EmulatedBands<T>::EmulatedBands(const ExecutionSpace& space, const Product& product, int bands_per_pass, int moduli,
                                const EmulationOptions& options)
    : at_once_(at_once(product, bands_per_pass, options)),
      op_a_(product.op_a),
      op_b_(product.op_b),
      scheme_(options.scheme),
      product_(space, std::min(product.tile, product.rows()), at_once_, moduli, options.workspace_bytes) {
  for (int k = 0; k < bands_per_pass; ++k) {
    slots_a_.push_back({{space, Factor::left, std::min(product.tile, product.rows()), product.inner()}});
  }
  slots_b_.push_back({{space, Factor::right, std::min(product.tile, product.columns()), product.inner()}});
  set_moduli(space, moduli);
}

template <Scalar T>
Index EmulatedBands<T>::at_once(const Product& product, int bands_per_pass, const EmulationOptions& options) {
  const Index rows = std::min(product.tile, product.rows());
  const Index columns = std::min(product.tile, product.columns());
  // A band of B that comes once need not stay; otherwise it would be made anew for each band of A.
  const bool comes_once = bands_per_pass == 1 && (rows == product.rows() || columns < product.columns());
  return comes_once ? columns_at_once<T>(rows, columns, product.inner(), options) : columns;
}

template <Scalar T>
double EmulatedBands<T>::bytes(const Product& product, int bands_per_pass, int moduli,
                               const EmulationOptions& options) {
  using Vectors = QuantisedVectors<T>;
  const Index rows = std::min(product.tile, product.rows());
  const Index columns = std::min(product.tile, product.columns());
  const Index panel = at_once(product, bands_per_pass, options);
  const double of_slices =
      options.scheme == EmulationScheme::slices ? static_cast<double>(bytes_for_sums(options.workspace_bytes)) : 0.0;
  return of_slices + bands_per_pass * Vectors::bytes(rows, product.inner(), moduli) +
         bytes_of_right<T>(columns, panel, product.inner(), moduli, options) +
         EmulatedProduct<T>::bytes_of_sums(rows, panel, moduli, options.workspace_bytes);
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
      const Index most = slots == &slots_b_ ? at_once_ : slot.band.most_vectors();
      slot.band.reserve(space, most, ResidueSystem::planes(field_of<T>, moduli));
      if (slot.holds != Holds::nothing) slot.holds = Holds::norms;
    }
  }
}

template <Scalar T>
typename EmulatedBands<T>::Slot& EmulatedBands<T>::measure(const ExecutionSpace& space, std::vector<Slot>& slots,
                                                           int load, Operation op, const MatrixView<const T>& band) {
  Slot& slot = slots[static_cast<std::size_t>(load) % slots.size()];
  if (slot.holds == Holds::nothing || slot.load != load) {
    slot.band.measure(space, op, band);
    slot.holds = Holds::norms;
    slot.load = load;
  }
  return slot;
}

template <Scalar T>
const QuantisedVectors<T>& EmulatedBands<T>::take(const ExecutionSpace& space, std::vector<Slot>& slots, int load,
                                                  Operation op, const MatrixView<const T>& band, Holds wanted) {
  Slot& slot = measure(space, slots, load, op, band);
  if (slot.holds != wanted) {
    if (wanted == Holds::leading_bits) {
      slot.band.reserve(space, slot.band.vectors(), QuantisedVectors<T>::leading_planes);
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
  const ExecutionSpace& space = context.space();
  if (at_once_ >= static_cast<Index>(tile.extent(1))) {
    product_(context, alpha, operands(space, step, A, B, Holds::residues), T{0}, tile);
    return;
  }
  Slot& right = measure(space, slots_b_, step.load_b, op_b_, B);
  const Operands factors{op_a_, op_b_, A, B, &take(space, slots_a_, step.load_a, op_a_, A, Holds::residues), nullptr};
  right.holds = Holds::norms;
  product_.by_panels(context, alpha, factors, right.band, at_once_, scheme_, T{0}, tile);
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
