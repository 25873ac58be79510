// Emulated products of a plan's steps.
#pragma once

#include "emulation/emulated.hpp"
#include "gemm/plan/schedule.hpp"

#include <vector>

namespace heddle::impl {

/// Bands are quantised when a step uses them. Bands of A stay quantised for their pass, the last band of B until
/// another one comes. If no band of B is used twice, some columns of it are quantised at a time.
template <Scalar T> class EmulatedBands {
 public:
  EmulatedBands(const ExecutionSpace& space, const Product& product, int bands_per_pass, int moduli,
                const EmulationOptions& options);

  /// Bytes that an object takes on a rank.
  [[nodiscard]] static double bytes(const Product& product, int bands_per_pass, int moduli,
                                    const EmulationOptions& options);

  /// Discard what the slots hold, because other bands come.
  void start();
  /// Return the spread of a step's rows and columns; see EmulatedProduct::probe(). Blocks.
  [[nodiscard]] Spread probe(const blas::Context& context, const Step& step, const MatrixView<const T>& A,
                             const MatrixView<const T>& B, Index decided);
  /// Use so many moduli from here on; what the slots hold is made again.
  void set_moduli(const ExecutionSpace& space, int moduli);
  /// tile = alpha op(A) op(B) of a step, whose bands are there.
  void multiply(const blas::Context& context, const Step& step, T alpha, const MatrixView<const T>& A,
                const MatrixView<const T>& B, const MatrixView<T>& tile);

 private:
  // Contents of a slot: the norms of a load, or its norms and its leading bits or residues.
  enum class Holds { nothing, norms, leading_bits, residues };
  struct Slot {
    QuantisedVectors<T> band;
    int load = -1;
    Holds holds = Holds::nothing;
  };
  // Fill the slot of a load: measure() with its norms at least, take() with what is wanted of the whole band.
  static Slot& measure(const ExecutionSpace& space, std::vector<Slot>& slots, int load, Operation op,
                       const MatrixView<const T>& band);
  const QuantisedVectors<T>& take(const ExecutionSpace& space, std::vector<Slot>& slots, int load, Operation op,
                                  const MatrixView<const T>& band, Holds wanted);
  // Columns of a tile that are computed at once.
  [[nodiscard]] static Index at_once(const Product& product, int bands_per_pass, const EmulationOptions& options);
  using Operands = typename EmulatedProduct<T>::Operands;
  Operands operands(const ExecutionSpace& space, const Step& step, const MatrixView<const T>& A,
                    const MatrixView<const T>& B, Holds wanted);

  Index at_once_;
  Operation op_a_;
  Operation op_b_;
  EmulationScheme scheme_;
  std::vector<Slot> slots_a_;
  std::vector<Slot> slots_b_;
  EmulatedProduct<T> product_;
};

/// The tile of an emulated product: the largest that leaves every rank a band, since integer units want long runs and
/// every tile's sums are assembled once; smaller if the residues of two bands of each factor would not fit `memory`
/// bytes (0: they fit).
[[nodiscard]] Index emulated_tile(const Product& product, int planes, double memory);

}  // namespace heddle::impl
