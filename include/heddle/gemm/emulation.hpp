// Products by integers: the same bits on any machine, and faster than native where integer units are.
#pragma once

#include <heddle/blas/blas.hpp>
#include <heddle/core/operation.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace heddle {

/// How products of floating-point numbers are computed: by the BLAS, or emulated by integers (see EmulatedGemm).
enum class Arithmetic { native, emulated };

[[nodiscard]] std::string_view to_string(Arithmetic arithmetic);
/// Throws Error(argument), with the names, for any other text.
[[nodiscard]] Arithmetic arithmetic_from(std::string_view text);

struct EmulationOptions {
  /// Moduli, 7 to 31: each adds 4 bits to both factors and one product of 8-bit integers (three for complex T). 0: as
  /// many as emulation_moduli() says.
  int moduli = 0;
  /// Upper bound for the 32-bit sums held at once, in bytes; those of 16 columns are, whatever it is. 0: 4 GiB on GPUs,
  /// 64 MiB on CPU backends.
  std::size_t workspace_bytes = 0;
};

/// The fewest moduli with which an element's error, before its last rounding, is at most `tolerance` |a|_2 |b|_2, a its
/// row of op(A) and b its column of op(B), whatever they hold. 0: u sqrt(inner), about what sums of T's in a row come
/// to for random terms; 14 moduli for double, 7 for float. Throws Error(argument) where not even 31 do.
template <Scalar T> [[nodiscard]] int emulation_moduli(Index inner, double tolerance = 0.0);

/// The bound that holds with so many moduli: |C - op(A) op(B)|_ij <= bound |a|_2 |b|_2 + u |C_ij|, or half the smallest
/// number where that is more, as long as nothing overflows.
template <Scalar T> [[nodiscard]] double emulation_error(Index inner, int moduli);

/// C = alpha op(A) op(B) + beta C by 8-bit integers, on one rank.
///
/// Algorithm (K. Ozaki, Y. Uchino, T. Imamura, arXiv:2504.08009, "scheme II"; complex: arXiv:2512.08321): each row of
/// op(A) and column of op(B) is scaled by a power of two and rounded to integers; their products are computed modulo 7
/// to 31 coprime numbers of 8 bits, exactly, and put together by the Chinese remainder theorem. Here the scales come
/// from sums of squares in integers, and each element is rounded once, from the exact product of the integers.
///
/// Shapes, strides and alpha, beta as blas::gemm has them; the product is rounded to T, then alpha times it, then
/// beta C added with one fused rounding (of complex T as multiply_add() has it). An element whose row or column holds
/// NaN or infinity is summed as it stands, in the order of the inner dimension.
///
/// Bits: reproducible: of C's element they are a function of its row of op(A), its column of op(B), alpha, beta and the
/// number of moduli; the same on CPUs and GPUs, whatever the threads and the shape of the product. (But for
/// the bits of a NaN, and as long as denormals are not flushed to zero, which no backend does by itself.)
///
/// Error: |C - op(A) op(B)|_ij <= emulation_error() |a|_2 |b|_2 + u |C_ij|, for alpha = 1, beta = 0; exact products
/// rounded once where op(A) and op(B) hold integers that the moduli take whole. Elements much smaller than their
/// row's largest lose what lies below the row's last bit: give more moduli to matrices of wide exponent ranges.
///
/// Cost: 2mnk operations of 8-bit integers for each modulus (6mnk for complex T), and passes over memory: op(A) and
/// op(B) three times, a byte an element and modulus, C four bytes a modulus. Workspace: a byte for each element of
/// op(A) and op(B) and each modulus (three for complex T), and the sums.
template <Scalar T> class EmulatedGemm {
 public:
  /// Workspace for products up to m x n with inner dimension k.
  EmulatedGemm(const blas::Context& context, Index m, Index n, Index k, const EmulationOptions& options = {});
  ~EmulatedGemm();
  EmulatedGemm(EmulatedGemm&&) noexcept;
  EmulatedGemm& operator=(EmulatedGemm&&) noexcept;

  /// Ordered on the context's instance; does not block on GPUs. Throws Error(argument) for shapes that don't fit.
  void operator()(Operation op_a, Operation op_b, T alpha, const MatrixView<const T>& A, const MatrixView<const T>& B,
                  T beta, const MatrixView<T>& C);
  [[nodiscard]] int moduli() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Which library multiplies 8-bit integers: "oneDNN 2.6.3 (AMX)", "cuBLAS 13.1.0".
[[nodiscard]] std::string emulation_description();

}  // namespace heddle
