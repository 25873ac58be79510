// Products on one rank that keep the residues of their factors.
#pragma once

#include "dist/work_matrix.hpp"
#include "gemm/emulation/emulated.hpp"

#include <vector>

namespace heddle::impl {

/// Emulated products of n x n matrices. A factor that comes again, and was not written in between, finds its residues,
/// of a symmetric or antisymmetric matrix those of its rows and columns alike; the few used last are kept. Bits: those
/// of any emulated product. Memory: the residues of two matrices (a byte an element and modulus each), and of two more
/// while there is much room.
template <RealScalar T> class KeptProducts {
 public:
  struct Given {
    const SharedMatrix<T>& matrix;
    int sign = 0;  ///< The matrix is `sign` times its transpose, to the bit; 0: it isn't, or nobody knows.
  };

  /// `most`: matrices whose residues are kept, 2 at least.
  KeptProducts(const ExecutionSpace& space, Index n, const EmulationOptions& options, std::size_t most = 4);

  /// Whether a third of the memory that is free takes four matrices' residues, as a plan's tile asks for.
  [[nodiscard]] static bool fit(Index n, const EmulationOptions& options);

  /// Z = alpha X Y + beta Z; alpha is not zero. `tile`: 0, or that of the tiles of GemmTiles::half, which alone are
  /// computed. Does not block on GPUs. Returns the flops of a native product of the same shape.
  double operator()(T alpha, const Given& X, const Given& Y, T beta, const MatrixView<T>& Z, Index tile);

  /// Matrices that there is room for by now.
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
  /// What goes next: nobody's, room for more, or what was used longest ago.
  Kept& free_one();

  Index n_;
  blas::Context context_;
  EmulatedProduct<T> product_;
  std::size_t most_;
  std::size_t uses_ = 0;
  std::vector<Kept> kept_;
};

}  // namespace heddle::impl
