// Matrix products by 8-bit integers: the same bits on any machine, and faster than the BLAS where integer units are.
#pragma once

#include <heddle/blas/blas.hpp>
#include <heddle/core/operation.hpp>

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// How matrix products of floating-point numbers are computed: `native` by the BLAS, `emulated` by integers (see
/// EmulatedGemm), and `automatic` by the one of these that the tile model predicts to be faster on this machine. Native
/// and emulated products are equally accurate; their bits differ.
enum class Arithmetic { native, emulated, automatic };

/// The name of an arithmetic: "native", "emulated" or "auto".
[[nodiscard]] std::string_view to_string(Arithmetic arithmetic);
/// The arithmetic of a name. Throws Error(argument), which lists the names, for any other text.
[[nodiscard]] Arithmetic arithmetic_from(std::string_view text);

/// Action of an emulated product where the exponents within rows of op(A) or columns of op(B) spread so far that the
/// largest number of moduli allowed would lose bits which sums of T keep.
enum class Fallback {
  /// Computes each element of alpha op(A) op(B) exactly (heddle::exact) and rounds it once. This is at least ten times
  /// slower, blocks, and is as reproducible as the emulated product. On one rank's Views beta C is part of the exact
  /// sum; GemmPlan adds it to the rounded product, as it does to any product.
  exact,
  native,  ///< Leaves the product to the BLAS, which then determines its bits.
  none,    ///< Uses the largest number of moduli allowed; the error bound that is reported holds.
};

/// How integers of more than 8 bits are multiplied exactly by products of 8-bit integers.
enum class EmulationScheme {
  /// Remainders by coprime moduli ("scheme II"). Each modulus takes one product of 8-bit integers; of complex T it
  /// takes two, and three from the 21st modulus on.
  residues,
  /// Slices of 8 bits ("scheme I": K. Ozaki, T. Ogita, S. Oishi, S. M. Rump, Numerical Algorithms 59, 2012). The
  /// integers that `residues` stands for are cut into slices, and each slice of one factor is multiplied by each slice
  /// of the other: 49 products in place of 14 moduli (256 in place of 15 of complex T). It gives the same bits as
  /// `residues` without moduli or remainders, and is there as the reference for it.
  slices,
};

/// How accurate an emulated product is, and what it may take.
struct EmulationOptions {
  /// How integers are multiplied. Quantised and Arithmetic::automatic take `residues` only; `slices` is for single
  /// products.
  EmulationScheme scheme = EmulationScheme::residues;
  /// Number of moduli, 7 to 31. Each adds 4 bits to both factors and costs one product of 8-bit integers; for complex T
  /// it adds 3 to 4 bits and costs two products, or three from the 21st modulus on. With 0 the number is that of
  /// emulation_moduli(), and with `look` as many more as the exponents of the factors need.
  int moduli = 0;
  /// Whether, with moduli == 0, the factors are probed first, by a product of their leading bits, to find how many
  /// moduli they need. A probe costs about two more products of 8-bit integers and, where bands travel between ranks, a
  /// second journey of the bands.
  bool look = true;
  /// The largest number of moduli that a probe may choose.
  int most_moduli = 31;
  /// Action where a probe finds that even `most_moduli` moduli are not enough.
  Fallback fallback = Fallback::exact;
  /// Upper bound for the memory of the 32-bit sums that are held at once, in bytes. The sums of 16 columns are held
  /// even where they exceed it. 0 stands for 4 GiB on GPUs and 16 MiB on CPU backends.
  std::size_t workspace_bytes = 0;
};

/// The fewest moduli with which the error of every element of op(A) op(B), before its last rounding, is at most
/// tolerance |a|_2 |b|_2, whatever the factors hold; a is the element's row of op(A), b its column of op(B).
///
/// `inner` is the inner dimension. The default tolerance 0 stands for u sqrt(min(inner, 16384)), about the error of a
/// sum in T of random terms, added one after the other. It takes 14 moduli for double and 15 for inner dimensions from
/// 35,022 (complex: 15, and 16 from 32,818); 7 for float and 8 from 371,721 (complex: 73,535). Throws Error(argument)
/// where not even 31 moduli are enough, for a negative inner dimension, and for a tolerance that is negative or NaN.
template <Scalar T> [[nodiscard]] int emulation_moduli(Index inner, double tolerance = 0.0);

/// How an emulated product was computed, and how accurate it is.
struct EmulationReport {
  int moduli = 0;            ///< Number of moduli that were used; 0 where the fallback computed the product instead.
  double error_bound = 0.0;  ///< The error bound that emulation_error() gives for these moduli; 0 with a fallback.
  /// The largest |a|_2 |b|_2 / sum_k |a_k b_k| over the rows a of op(A) and columns b of op(B), or a number near it. It
  /// is infinite where finding it was not worth the work, and 0 where the factors were not probed.
  double spread = 0.0;
  std::optional<Fallback> fallback{};  ///< The fallback that was taken; empty where the product was emulated.
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const EmulationReport& report);

/// The relative error bound of an emulated product with this inner dimension and number of moduli: |C - op(A) op(B)|_ij
/// <= bound |a|_2 |b|_2 + u |C_ij|, where a is row i of op(A) and b column j of op(B). Half the smallest number of T
/// takes the place of u |C_ij| where that is more. The bound holds as long as nothing overflows. Throws Error(argument)
/// for a negative inner dimension and for moduli outside 7 to 31.
template <Scalar T> [[nodiscard]] double emulation_error(Index inner, int moduli);

/// The name of a scheme: "residues" or "slices".
[[nodiscard]] std::string_view to_string(EmulationScheme scheme);
/// The scheme of a name. Throws Error(argument), which lists the names, for any other text.
[[nodiscard]] EmulationScheme emulation_scheme_from(std::string_view text);

/// The name of a fallback: "exact", "native" or "none".
[[nodiscard]] std::string_view to_string(Fallback fallback);
/// The fallback of a name. Throws Error(argument), which lists the names, for any other text.
[[nodiscard]] Fallback fallback_from(std::string_view text);

template <Scalar T> class Quantised;

/// Computes C = alpha op(A) op(B) + beta C by products of 8-bit integers, on one rank: rows of op(A) and columns of
/// op(B) are scaled by powers of two and rounded to integers, multiplied exactly modulo 7 to 31 coprime numbers, put
/// together, and rounded once.
/// - Shapes: as blas::gemm, any strides included. The product is rounded to T and multiplied by alpha, then beta C is
///   added with one fused rounding. An element whose row of op(A) or column of op(B) holds NaN or infinity is summed in
///   T, in the order of the inner dimension. Errors: see operator().
/// - Accuracy: |C - op(A) op(B)|_ij <= emulation_error() |a|_2 |b|_2 + u |C_ij| for alpha = 1, beta = 0, with row a of
///   op(A) and column b of op(B). Integers that fit the moduli give the exact product rounded once. Digits below the
///   last bit kept of a row or column are lost; a probe (EmulationOptions::look) finds where that matters, and more
///   moduli, or the fallback, make up for it.
/// - Bits: reproducible, on CPUs and GPUs, for any number of threads and any shape: an element depends on its row, its
///   column, alpha, beta and the number of moduli alone, and with a probe that number on the exponents of A and B. The
///   bits of a NaN may differ; denormals must not be flushed. On GPUs it blocks for a probe and the exact fallback
///   alone.
/// - Cost: 2mnk operations for each product of 8-bit integers (see EmulationScheme), a probe up to 10mnk more. Memory:
///   a byte for each element of op(A), and of op(B) in part, for each of them: docs/notes/emulation.md, section "Cost".
/// - Sources: K. Ozaki, Y. Uchino, T. Imamura (2025, arXiv:2504.08009); P. Caday (2026, arXiv:2609.05419).
template <Scalar T> class EmulatedGemm {
 public:
  /// Makes the workspace for products of at most m x n elements with inner dimension k. Throws Error(argument) for
  /// negative extents and numbers of moduli outside 7 to 31.
  EmulatedGemm(const blas::Context& context, Index m, Index n, Index k, const EmulationOptions& options = {});
  ~EmulatedGemm();
  EmulatedGemm(EmulatedGemm&&) noexcept;
  EmulatedGemm& operator=(EmulatedGemm&&) noexcept;

  /// Computes C = alpha op(A) op(B) + beta C, ordered on the context's instance; it blocks on GPUs only for a probe.
  /// Throws Error(argument) for shapes that don't fit, and where C shares an element with A or B.
  void operator()(Operation op_a, Operation op_b, T alpha, const MatrixView<const T>& A, const MatrixView<const T>& B,
                  T beta, const MatrixView<T>& C);
  /// Computes C = alpha A B + beta C from factors that were quantised before, which gives the same bits as the product
  /// of their matrices with the same number of moduli. Nothing is probed. The workspace has to be for as many rows and
  /// columns, but the quantised factors keep their own residues.
  void operator()(T alpha, const Quantised<T>& A, const Quantised<T>& B, T beta, const MatrixView<T>& C);
  /// How the last product was computed.
  [[nodiscard]] const EmulationReport& report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Which factor of a product a matrix is: `left` is op(A), whose rows are scaled; `right` is op(B), whose columns are.
enum class Factor { left, right };

/// op(X) as residues, for any number of emulated products that use it. Each of these products saves a quarter to a
/// tenth of its time.
///
/// The object shares X, whose elements must not change: rows and columns with NaN or infinity are summed from X itself.
/// Memory: one byte for each element and each product of 8-bit integers.
template <Scalar T> class Quantised {
 public:
  /// Quantises op(X) with `moduli` moduli, 7 to 31; 0 stands for what emulation_moduli() says; others are
  /// Error(argument). The work is ordered on the context's instance and does not block on GPUs.
  Quantised(const blas::Context& context, Factor factor, Operation op, const MatrixView<const T>& X, int moduli = 0);
  ~Quantised();
  Quantised(Quantised&&) noexcept;
  Quantised& operator=(Quantised&&) noexcept;

  /// The number of moduli that op(X) was quantised with.
  [[nodiscard]] int moduli() const;

 private:
  friend class EmulatedGemm<T>;
  struct State;
  std::unique_ptr<State> state_;
};

/// The name and version of the library that multiplies 8-bit integers, such as "oneDNN 2.6.3 (AMX)", "cuBLAS 13.1.0" or
/// "rocBLAS 4.4.0".
[[nodiscard]] std::string emulation_description();

}  // namespace heddle
