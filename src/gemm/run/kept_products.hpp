// Products on one rank that keep the residues of their factors.
#pragma once

#include "dist/work_matrix.hpp"
#include "emulation/emulated.hpp"

#include <vector>

namespace heddle::impl {

/// Emulated products of n x n matrices. A factor that comes again, and was not written in between, finds its residues;
/// those of a symmetric or antisymmetric matrix serve as rows and as columns. The few used last are kept. The bits are
/// those of any emulated product. Memory: the residues of two matrices (a byte an element and modulus each), and of two
/// more while much memory is free.
template <RealScalar T> class KeptProducts {
 public:
  struct Given {
    const SharedMatrix<T>& matrix;
    int sign = 0;  ///< The matrix is `sign` times its transpose, to the bit; 0: it is not, or this is unknown.
  };

  /// `most`: matrices whose residues are kept, 2 at least.
  KeptProducts(const ExecutionSpace& space, Index n, const EmulationOptions& options, std::size_t most = 4);

  /// Whether the residues of four matrices fit a third of the free memory, as a plan's tile asks for.
  [[nodiscard]] static bool fit(Index n, const EmulationOptions& options);

  /// Z = alpha X Y + beta Z; alpha is not zero. `tile`: 0, or the tile of GemmTiles::half, whose tiles alone are
  /// computed. Does not block on GPUs. Returns the flops of a native product of the same shape.
  double operator()(T alpha, const Given& X, const Given& Y, T beta, const MatrixView<T>& Z, Index tile);

  /// Number of matrices whose residues have room.
  [[nodiscard]] std::size_t kept() const { return kept_.size(); }

 private:
  struct Kept {
    MatrixStamp<T> matrix;
    bool rows = false;  // Whether the residues are those of its rows.
    int sign = 0;
    std::size_t used = 0;
    QuantisedVectors<T> vectors;
  };
  /// The residues of a factor's rows or columns.
  Kept& find(const Given& factor, bool rows);
  /// Return the slot to fill next: a stale one, a new one if memory allows, or the one used longest ago.
  Kept& free_one();

  Index n_;
  blas::Context context_;
  EmulatedProduct<T> product_;
  std::size_t most_;
  std::size_t uses_ = 0;
  std::vector<Kept> kept_;
};

}  // namespace heddle::impl
