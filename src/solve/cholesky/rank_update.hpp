// Rank-k updates of one triangle, alpha op(A) op'(A) + beta C, tile by tile.
#pragma once

#include "solve/grid/placed_matrix.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/comm/transport.hpp>
#include <heddle/solve/syrk.hpp>

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace heddle::impl {

/// C = alpha op(A) op'(A) + beta C in one triangle, op' being op's transpose or conjugate transpose.
template <Scalar T> struct RankUpdateTerms {
  Triangle triangle;
  Operation op;    ///< none, or the operation that turns A's columns into rows.
  bool hermitian;  ///< Whether one factor is conjugated and the diagonal is real.
  T alpha;
  T beta;
};

/// Rows and columns of a tile of an n x n matrix if the options leave it to the library: some thirty-two tiles per
/// side, for any number of ranks.
[[nodiscard]] Index rank_update_block(Index n, const SyrkOptions& options);

/// The update, for A and C of one shape over the ranks of a matrix. The vectors (rows) of op(A), and the columns of C
/// that belong to them, are dealt out in blocks.
template <Scalar T> class RankUpdate {
 public:
  RankUpdate(const OptionalRanks& ranks, const RankUpdateTerms<T>& terms, Index n, Index inner,
             const SyrkOptions& options);

  /// Placements in which run() takes A and C.
  [[nodiscard]] Placement placement_of_a() const;
  [[nodiscard]] Placement placement_of_c() const;
  [[nodiscard]] Index block() const { return axis_.block; }
  /// Updates C, of which this rank has columns `C`, from A, of which it has vectors `A`, and returns this rank's
  /// multiply-adds. Collective.
  double run(const MatrixView<T>& A, const MatrixView<T>& C);

 private:
  using Buffer = Kokkos::View<T*, MemorySpace>;
  [[nodiscard]] bool by_rows() const { return terms_.op == Operation::none; }
  [[nodiscard]] bool lower() const { return terms_.triangle == Triangle::lower; }
  [[nodiscard]] Index blocks() const { return (axis_.extent + axis_.block - 1) / axis_.block; }
  [[nodiscard]] Range range(Index block) const {
    return {block * axis_.block, std::min((block + 1) * axis_.block, axis_.extent)};
  }
  /// Whether a rank has a tile in block i of rows.
  [[nodiscard]] bool wanted_by(int rank, Index i) const;
  /// Vectors [begin, end) of `A`, as local numbers.
  [[nodiscard]] MatrixView<T> vectors(const MatrixView<T>& A, Range of) const;
  /// View of `count` vectors in a message.
  [[nodiscard]] MatrixView<T> in_message(const Buffer& message, Index count) const;
  /// Starts sending block i to the ranks that want it.
  void begin_block(const MatrixView<T>& A, Index i);
  /// Block i, once it has arrived.
  [[nodiscard]] MatrixView<T> block_here(const MatrixView<T>& A, Index i);
  void update_tiles(const MatrixView<T>& A, const MatrixView<T>& block, Index i, const MatrixView<T>& C);
  void multiply(const MatrixView<T>& left, const MatrixView<T>& right, Index j, const MatrixView<T>& tile);
  void update_diagonal(const MatrixView<T>& left, const MatrixView<T>& right, Index j, const MatrixView<T>& tile);

  OptionalRanks ranks_;
  RankUpdateTerms<T> terms_;
  Operation left_;
  Operation right_;
  Index inner_;
  CyclicAxis axis_;
  int moduli_ = 0;  // Number of moduli; 0: native.
  blas::Context context_;
  std::optional<Transport> transport_;
  std::array<Buffer, 2> messages_;
  std::array<std::vector<Request>, 2> under_way_;
  LocalMatrix<T> diagonal_;
  std::unique_ptr<EmulatedGemm<T>> emulated_;
  std::unique_ptr<Quantised<T>> quantised_left_;
  std::vector<std::unique_ptr<Quantised<T>>> quantised_right_;  // Quantised blocks of this rank, created on first use.
  double multiply_adds_ = 0;
};

/// C = beta C in one triangle, in any placement; C is not read if beta is zero.
template <Scalar T> void scale_triangle(const RankUpdateTerms<T>& terms, const PlacedMatrix<T>& C);

}  // namespace heddle::impl
