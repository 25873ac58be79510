// One product of quantised bands.
#pragma once

#include "blas/integer.hpp"
#include "gemm/emulation/slices.hpp"
#include <heddle/gemm/emulation.hpp>

#include <memory>

namespace heddle::impl {

/// Moduli of a product before its factors are probed: those of the options, or as many as round-off needs. Throws
/// Error(argument) for any that can't be.
template <Scalar T> [[nodiscard]] int moduli_of(Index inner, const EmulationOptions& options);

/// Whether the options want the factors probed before each product (EmulationOptions::look): a product of their leading
/// bits then shows how many moduli they need.
[[nodiscard]] inline bool wants_probe(const EmulationOptions& options) {
  return options.moduli == 0 && options.look;
}

/// Leading bits whose products, summed, stay within 31 bits.
[[nodiscard]] int leading_width(Index inner);

/// How far the norms of rows and columns are from telling the sizes of what they sum.
struct Spread {
  /// Largest |a|_2 |b|_2 / sum_k |a_k b_k| of rows a and columns b, but for those that count as undecided.
  double ratio = 0.0;
  /// Elements of C whose factors have nothing in common, which is not zero, within some 2^-6 of what is largest in
  /// each.
  Index undecided = 0;
};

/// Of random terms the ratio is 1.6; what is within a few times that a BLAS's errors make up for.
inline constexpr double usual_spread = 4.0;

/// Undecided elements of `elements` that are worth deciding one by one.
[[nodiscard]] inline Index worth_deciding(Index elements) {
  return elements / 64;
}
/// What to do once all of a product of `elements` elements was probed.
template <Scalar T>
[[nodiscard]] EmulationReport choose_emulation(Index inner, Index elements, const Spread& spread,
                                               const EmulationOptions& options);

/// The product by an exact sum, or by the BLAS, from the operands themselves.
template <Scalar T>
void multiply_instead(const blas::Context& context, Fallback fallback, T alpha, const QuantisedOperands<T>& operands,
                      T beta, const MatrixView<T>& C);

/// How many columns of C are computed at once, from the residues of as many columns of op(B): a multiple of
/// QuantisedVectors<T>::vector_padding, or all of them. On CPUs as many as there is room for sums of, whose residues
/// are still in the caches then; on GPUs a quarter where the residues of all take much memory.
template <Scalar T> [[nodiscard]] Index columns_at_once(Index m, Index n, Index inner, const EmulationOptions& options);
/// Bytes of op(B)'s planes for so many columns of all n at once, leading bits included where they are wanted.
template <Scalar T>
[[nodiscard]] double bytes_of_right(Index n, Index at_once, Index inner, int moduli, const EmulationOptions& options);

/// C = alpha op(A) op(B) + beta C, where A and B are op(A) and op(B) quantised.
template <Scalar T> class EmulatedProduct {
 public:
  EmulatedProduct(const ExecutionSpace& space, Index m, Index n, int moduli, std::size_t workspace_bytes);

  [[nodiscard]] const ResidueSystem& system() const { return system_; }
  /// Other moduli from here on.
  void set_moduli(const ExecutionSpace& space, int moduli);
  /// What one holds, in 32-bit sums: of 16 columns at least, and four residues for one where the device leaves these.
  [[nodiscard]] static Index sums_for(Index m, Index n, int moduli, std::size_t workspace_bytes);

  using Operands = QuantisedOperands<T>;
  void operator()(const blas::Context& context, T alpha, const Operands& operands, T beta, const MatrixView<T>& C);
  /// The same for a right factor that was measured and not taken: `at_once` columns of it after each other.
  void by_panels(const blas::Context& context, T alpha, const Operands& operands, QuantisedVectors<T>& right,
                 Index at_once, EmulationScheme scheme, T beta, const MatrixView<T>& C);
  /// How the norms of rows and columns compare with what their elements sum to, from the leading bits that `operands`
  /// hold (see leading_width()). What is undecided by those is decided by exponents, element by element, where it is no
  /// more than `decided` elements in all. Blocks.
  [[nodiscard]] Spread probe(const blas::Context& context, const Operands& operands, Index rows, Index columns,
                             Index decided);

 private:
  // First planes of both factors and of the sums, and how many.
  struct Planes {
    int left;
    int right;
    int sums;
    int count;
  };
  template <class Body> void for_each_piece(Index rows, Index columns, int planes, const Body& body) const;
  // One product of these planes, of the inner dimension from `begin` on.
  [[nodiscard]] IntegerProducts products_of(const Operands& operands, const ProductPiece& piece, const Planes& planes,
                                            Index begin) const;
  // C from residues that the device's own units leave, where it has such.
  void assemble_residues(const blas::Context& context, T alpha, const Operands& operands, T beta,
                         const MatrixView<T>& C) const;
  // Sums of products of these planes; `reduced`: by their moduli, where 32 bits don't take all of the inner dimension.
  void multiply(const blas::Context& context, const Operands& operands, const ProductPiece& piece, const Planes& planes,
                bool reduced) const;

  Index rows_;
  Index columns_;
  std::size_t workspace_bytes_;
  ResidueSystem system_;
  Kokkos::View<std::int32_t*, MemorySpace> sums_;
  std::unique_ptr<SlicedProduct<T>> sliced_;  // Made where it is first asked for.
};

}  // namespace heddle::impl
