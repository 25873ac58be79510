// The products of a plan's steps by integers.
#pragma once

#include "gemm/emulation/emulated.hpp"
#include "gemm/plan/schedule.hpp"

#include <vector>

namespace heddle::impl {

/// Bands are quantised when a step uses them: those of A stay so for their pass, the last of B until another comes, or
/// some columns of it until others do, where no band of B is used twice.
template <Scalar T> class EmulatedBands {
 public:
  EmulatedBands(const ExecutionSpace& space, const Product& product, int bands_per_pass, int moduli,
                const EmulationOptions& options);

  /// Bytes that one takes on a rank.
  [[nodiscard]] static double bytes(const Product& product, int bands_per_pass, int moduli,
                                    const EmulationOptions& options);

  /// Other bands come: what the slots hold is of no use.
  void start();
  /// How the norms of a step's rows and columns compare with what its tile sums; what is undecided is decided where it
  /// is no more than `decided` elements. Blocks.
  [[nodiscard]] Spread probe(const blas::Context& context, const Step& step, const MatrixView<const T>& A,
                             const MatrixView<const T>& B, Index decided);
  /// Other moduli from here on; what the slots hold is made again.
  void set_moduli(const ExecutionSpace& space, int moduli);
  /// tile = alpha op(A) op(B) of a step, whose bands are there.
  void multiply(const blas::Context& context, const Step& step, T alpha, const MatrixView<const T>& A,
                const MatrixView<const T>& B, const MatrixView<T>& tile);

 private:
  // Of a load: its norms, and then its leading bits or its residues.
  enum class Holds { nothing, norms, leading_bits, residues };
  struct Slot {
    QuantisedVectors<T> band;
    int load = -1;
    Holds holds = Holds::nothing;
  };
  // The slot of a load, which holds its norms at least, and then what is wanted of all of it.
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

/// The tile of an emulated product: as large as leaves every rank a band, since integer units want long runs and every
/// tile's sums are put together once; less where the residues of two bands of each side would not fit `memory` bytes
/// (0: they do).
[[nodiscard]] Index emulated_tile(const Product& product, int planes, double memory);

}  // namespace heddle::impl
