// Products by integers: the same bits on any machine, and faster than native where integer units are.
#pragma once

#include <heddle/blas/blas.hpp>
#include <heddle/core/operation.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// How products of floating-point numbers are computed: by the BLAS, emulated by integers (see EmulatedGemm), or by the
/// one of them that the tile model says is faster here. Each product of a BLAS and an emulated one is as accurate as
/// the other; their bits differ.
enum class Arithmetic { native, emulated, automatic };

/// "native", "emulated", "auto".
[[nodiscard]] std::string_view to_string(Arithmetic arithmetic);
/// Throws Error(argument), with the names, for any other text.
[[nodiscard]] Arithmetic arithmetic_from(std::string_view text);

/// What to do where exponents spread so much within the rows of op(A) or the columns of op(B) that the moduli allowed
/// would lose bits that sums of T's keep.
enum class Fallback {
  exact,  ///< Round each element of op(A) op(B) once, alpha with it, from the exact sum (heddle::exact): ten times
          ///< slower or more, blocks, and as reproducible. beta C is part of the sum on one rank's Views; GemmPlan adds
          ///< it to the rounded product, as it does to any.
  native,  ///< Leave the product, and its bits, to the BLAS.
  none,    ///< Take the moduli allowed; the bound that is reported holds.
};

/// How integers beyond 8 bits are multiplied, exactly.
enum class EmulationScheme {
  /// "Scheme II": a product of 8-bit integers for each modulus (two for complex T, three from the 21st modulus on).
  residues,
  /// "Scheme I" (K. Ozaki, T. Ogita, S. Oishi, S. M. Rump, Numerical Algorithms 59, 2012): the same integers in slices
  /// of 8 bits, and a product for each slice of one with each of the other: 49 for 14 moduli (256 for 15 of complex
  /// T). The same bits by another way, with neither moduli nor remainders: the reference.
  slices,
};

struct EmulationOptions {
  /// Slices are for one product at a time: Quantised keeps residues, and Arithmetic::automatic chooses among these.
  EmulationScheme scheme = EmulationScheme::residues;
  /// Moduli, 7 to 31: each adds 4 bits to both factors and one product of 8-bit integers; for complex T 3 to 4 bits and
  /// two products, three from the 21st on. 0: as many as emulation_moduli() says and, with `look`, as many more as
  /// exponents ask for.
  int moduli = 0;
  /// With moduli == 0: probe the factors first, by a product of their leading bits. A probe costs about two more
  /// products of 8-bit integers, and a second journey where bands travel.
  bool look = true;
  /// The largest number of moduli that a probe may lead to.
  int most_moduli = 31;
  /// What is done where a probe finds that `most_moduli` are not enough.
  Fallback fallback = Fallback::exact;
  /// Upper bound for the 32-bit sums held at once, in bytes; those of 16 columns are, whatever it is. 0: 4 GiB on GPUs,
  /// 64 MiB on CPU backends.
  std::size_t workspace_bytes = 0;
};

/// The fewest moduli with which an element's error, before its last rounding, is at most `tolerance` |a|_2 |b|_2, a its
/// row of op(A) and b its column of op(B), whatever they hold. 0: u sqrt(min(inner, 16384)), about what sums of T's in
/// a row come to for random terms: 14 moduli for double, 15 for inner dimensions from 35,022 (complex: 15, and 16 from
/// 32,818), 7 for float, 8 from 371,721 (complex: 73,535). Throws Error(argument) where not even 31 do.
template <Scalar T> [[nodiscard]] int emulation_moduli(Index inner, double tolerance = 0.0);

/// What an emulated product took.
struct EmulationReport {
  int moduli = 0;            ///< 0: it fell back.
  double error_bound = 0.0;  ///< emulation_error().
  /// Largest |a|_2 |b|_2 / sum_k |a_k b_k| of any row and column, or near it; infinite where that was not worth finding
  /// out; 0 where the factors were not probed.
  double spread = 0.0;
  std::optional<Fallback> fallback{};  ///< What was done instead.
};

/// The bound that holds with so many moduli: |C - op(A) op(B)|_ij <= bound |a|_2 |b|_2 + u |C_ij|, or half the smallest
/// number where that is more, as long as nothing overflows.
template <Scalar T> [[nodiscard]] double emulation_error(Index inner, int moduli);

/// "residues", "slices".
[[nodiscard]] std::string_view to_string(EmulationScheme scheme);
/// Throws Error(argument), with the names, for any other text.
[[nodiscard]] EmulationScheme emulation_scheme_from(std::string_view text);

/// "exact", "native", "none".
[[nodiscard]] std::string_view to_string(Fallback fallback);
/// Throws Error(argument), with the names, for any other text.
[[nodiscard]] Fallback fallback_from(std::string_view text);

template <Scalar T> class Quantised;

/// C = alpha op(A) op(B) + beta C by 8-bit integers, on one rank.
///
/// Algorithm (K. Ozaki, Y. Uchino, T. Imamura, arXiv:2504.08009, "scheme II"): each row of op(A) and column of op(B) is
/// scaled by a power of two and rounded to integers; their products are computed modulo 7 to 31 coprime numbers of 8
/// bits, exactly, and put together by the Chinese remainder theorem. Here the scales come from sums of squares in
/// integers, and each element is rounded once, from the exact product of the integers. Complex integers take two
/// products a modulus: modulo primes 4 k + 1 (and products of these) -1 has a root j, and x + j y and x - j y multiply
/// one by one (quadratic residue number systems: W. K. Jenkins, J. V. Krogmeier, IEEE Trans. Circuits Syst. 34, 1987;
/// of matrices: P. Caday, arXiv:2609.05419); from the 21st modulus on three (arXiv:2512.08321).
///
/// Shapes, strides and alpha, beta as blas::gemm has them; the product is rounded to T, then alpha times it, then
/// beta C added with one fused rounding (of complex T as multiply_add() has it). An element whose row or column holds
/// NaN or infinity is summed as it stands, in the order of the inner dimension.
///
/// Bits: reproducible: of C's element they are a function of its row of op(A), its column of op(B), alpha, beta and the
/// number of moduli (which a probe makes a function of the shape and of the exponents of all of A and B); the same on
/// CPUs and GPUs, whatever the threads and the shape of the product. (But for the bits of a NaN, and as long as
/// denormals are not flushed to zero, which no backend does by itself.)
///
/// Error: |C - op(A) op(B)|_ij <= emulation_error() |a|_2 |b|_2 + u |C_ij|, for alpha = 1, beta = 0; exact products
/// rounded once where op(A) and op(B) hold integers that the moduli take whole. Elements much smaller than their
/// row's largest lose what lies below the row's last bit. Where |a|_2 |b|_2 is far above sum |a_k b_k|, a probe finds
/// that before the product, and more moduli make up for it, or the fallback does.
///
/// Cost: 2mnk operations for each product of 8-bit integers (see EmulationScheme), and passes over memory: op(A) and
/// op(B) three times, a byte an element and product, C four bytes a product. A probe: 2mnk operations, 8mnk more where
/// that leaves elements in doubt, and a pass over a row and a column for each element whose factors have nothing in
/// common within 2^-16 of what is largest in both; where these are more than a 64th of all, the fallback comes at once.
/// Workspace: a byte for each element of op(A) and op(B) and each product, and the sums.
template <Scalar T> class EmulatedGemm {
 public:
  /// Workspace for products up to m x n with inner dimension k.
  EmulatedGemm(const blas::Context& context, Index m, Index n, Index k, const EmulationOptions& options = {});
  ~EmulatedGemm();
  EmulatedGemm(EmulatedGemm&&) noexcept;
  EmulatedGemm& operator=(EmulatedGemm&&) noexcept;

  /// Ordered on the context's instance; blocks on GPUs only for a probe. Throws Error(argument) for shapes that don't
  /// fit, and where an element of C is one of A or B too.
  void operator()(Operation op_a, Operation op_b, T alpha, const MatrixView<const T>& A, const MatrixView<const T>& B,
                  T beta, const MatrixView<T>& C);
  /// The same bits from factors that were quantised before, with the same moduli; nothing is probed. The workspace
  /// is for as many rows and columns, but these keep their own residues.
  void operator()(T alpha, const Quantised<T>& A, const Quantised<T>& B, T beta, const MatrixView<T>& C);
  /// Of the last product.
  [[nodiscard]] const EmulationReport& report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Which factor of a product: op(A), whose rows are scaled, or op(B), whose columns are.
enum class Factor { left, right };

/// op(X) as residues, for as many emulated products as use it: a quarter to a tenth of each of them is saved.
///
/// Shares X, which must stay as it is: rows and columns with NaN or infinity are summed from it. Memory: a byte an
/// element and product of 8-bit integers.
template <Scalar T> class Quantised {
 public:
  /// `moduli`: 7 to 31; 0: emulation_moduli(). Ordered on the context's instance; does not block on GPUs.
  Quantised(const blas::Context& context, Factor factor, Operation op, const MatrixView<const T>& X, int moduli = 0);
  ~Quantised();
  Quantised(Quantised&&) noexcept;
  Quantised& operator=(Quantised&&) noexcept;

  [[nodiscard]] int moduli() const;

 private:
  friend class EmulatedGemm<T>;
  struct State;
  std::unique_ptr<State> state_;
};

/// Which library multiplies 8-bit integers: "oneDNN 2.6.3 (AMX)", "cuBLAS 13.1.0", "rocBLAS 4.4.0".
[[nodiscard]] std::string emulation_description();

}  // namespace heddle
