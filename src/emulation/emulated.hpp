// One product of quantised bands.
#pragma once

#include "emulation/integer.hpp"
#include "emulation/slices.hpp"
#include <heddle/emulation/emulation.hpp>

#include <memory>

namespace heddle::impl {

/// Moduli of a product before its factors are probed: those of the options, or as many as round-off needs. Throws
/// Error(argument) for a number outside least_moduli to most_moduli.
template <Scalar T> [[nodiscard]] int moduli_of(Index inner, const EmulationOptions& options);

/// Whether the options want the factors probed before each product (EmulationOptions::look): a product of their leading
/// bits then shows how many moduli they need.
[[nodiscard]] inline bool wants_probe(const EmulationOptions& options) {
  return options.moduli == 0 && options.look;
}

/// Leading bits whose products, summed, stay within 31 bits.
[[nodiscard]] int leading_width(Index inner);

/// Ratio of |a|_2 |b|_2 to sum_k |a_k b_k| over the rows a and columns b of a product.
struct Spread {
  /// Largest |a|_2 |b|_2 / sum_k |a_k b_k| of rows a and columns b, but for those that count as undecided.
  double ratio = 0.0;
  /// Elements of C that leading bits don't decide: sum_k |a_k b_k| is not zero, but each term has a factor below
  /// 2^-(leading_width() + far_bits) times the power of two above the largest element of its row or column.
  Index undecided = 0;
};

/// Largest ratio that asks for no more moduli: random terms have 1.6, and the errors of a BLAS make up for a few times
/// that.
inline constexpr double usual_spread = 4.0;

/// Largest number of undecided elements, of `elements`, that are worth deciding one by one.
[[nodiscard]] inline Index worth_deciding(Index elements) {
  return elements / 64;
}
/// Return the fewest moduli, from moduli_of() to most_moduli, whose error bound is at most round-off / max(1, ratio /
/// usual_spread) for a probed product of `elements` elements. If none suffices, return the fallback, or with
/// Fallback::none the most moduli. More undecided elements than worth_deciding() count as an infinite ratio.
template <Scalar T>
[[nodiscard]] EmulationReport choose_emulation(Index inner, Index elements, const Spread& spread,
                                               const EmulationOptions& options);

/// Multiply the operands themselves, by an exact sum or by the BLAS.
template <Scalar T>
void multiply_instead(const blas::Context& context, Fallback fallback, T alpha, const QuantisedOperands<T>& operands,
                      T beta, const MatrixView<T>& C);

/// Number of columns of C that are computed at once, from the residues of as many columns of op(B): a multiple of
/// QuantisedVectors<T>::vector_padding, or all of them. On CPUs as many as the workspace has sums for, so that their
/// residues are still in the caches; on GPUs a quarter if the residues of all take more than 1 GiB.
template <Scalar T> [[nodiscard]] Index columns_at_once(Index m, Index n, Index inner, const EmulationOptions& options);
/// Bytes of op(B)'s planes: residues of `at_once` of its n columns, or leading bits of all n if the factors are probed,
/// whichever take more.
template <Scalar T>
[[nodiscard]] double bytes_of_right(Index n, Index at_once, Index inner, int moduli, const EmulationOptions& options);

/// C = alpha op(A) op(B) + beta C from quantised op(A) and op(B).
template <Scalar T> class EmulatedProduct {
 public:
  EmulatedProduct(const ExecutionSpace& space, Index m, Index n, int moduli, std::size_t workspace_bytes);

  [[nodiscard]] const ResidueSystem& system() const { return system_; }
  /// Use so many moduli from here on.
  void set_moduli(const ExecutionSpace& space, int moduli);
  /// Number of 32-bit sums that the workspace holds, for 16 columns at least; four residues take the place of one sum
  /// if the device computes residues.
  [[nodiscard]] static Index sums_for(Index m, Index n, int moduli, std::size_t workspace_bytes);

  /// Bytes of these sums.
  [[nodiscard]] static double bytes_of_sums(Index m, Index n, int moduli, std::size_t workspace_bytes = 0) {
    return sizeof(std::int32_t) * static_cast<double>(sums_for(m, n, moduli, workspace_bytes));
  }

  using Operands = QuantisedOperands<T>;
  void operator()(const blas::Context& context, T alpha, const Operands& operands, T beta, const MatrixView<T>& C);
  /// The same for a right factor that was measured and not taken: it is taken `at_once` columns at a time.
  void by_panels(const blas::Context& context, T alpha, const Operands& operands, QuantisedVectors<T>& right,
                 Index at_once, EmulationScheme scheme, T beta, const MatrixView<T>& C);
  /// Return the spread, from the leading bits that `operands` hold (see leading_width()). Elements that these leave
  /// undecided are decided from exponents one by one, if they are no more than `decided` in all. Blocks.
  [[nodiscard]] Spread probe(const blas::Context& context, const Operands& operands, Index rows, Index columns,
                             Index decided);

 private:
  // First planes of both factors and of the sums, and the number of planes.
  struct Planes {
    int left;
    int right;
    int sums;
    int count;
  };
  template <class Body> void for_each_piece(Index rows, Index columns, int planes, const Body& body) const;
  // Products of these planes over at most longest_sum of the inner dimension from `begin` on.
  [[nodiscard]] IntegerProducts products_of(const Operands& operands, const ProductPiece& piece, const Planes& planes,
                                            Index begin) const;
  // Assemble C from the residues of integer_residues(), if has_integer_residues().
  void assemble_residues(const blas::Context& context, T alpha, const Operands& operands, T beta,
                         const MatrixView<T>& C) const;
  // Sum the products of these planes; `reduced`: modulo their moduli if 32 bits don't hold the whole inner dimension.
  void multiply(const blas::Context& context, const Operands& operands, const ProductPiece& piece, const Planes& planes,
                bool reduced) const;

  Index rows_;
  Index columns_;
  std::size_t workspace_bytes_;
  ResidueSystem system_;
  Kokkos::View<std::int32_t*, MemorySpace> sums_;
  std::unique_ptr<SlicedProduct<T>> sliced_;  // Made at first use.
};

}  // namespace heddle::impl
