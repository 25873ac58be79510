// Units and precision that a vendor's BLAS takes for the products of its native arithmetic.
#pragma once

#include <heddle/core/scalar.hpp>

#include <string>
#include <string_view>

namespace heddle {

/// The math mode of native products. Effect of each mode:
///
/// | mode        | cuBLAS, double and complex double            | cuBLAS, float and complex float      | CPUs |
/// |-------------|----------------------------------------------|--------------------------------------|------|
/// | `automatic` | as `tensor`, on devices without it as `plain`| no tensor cores                      | taken |
/// | `tensor`    | tensor cores (DMMA) in full precision        | refused: they lack that precision    | refused |
/// | `plain`     | pedantic mode                                | pedantic mode, no tensor cores       | taken |
/// | `tf32`      | refused                                      | tensor cores, factors of 11 bits     | refused |
///
/// With cuBLAS `automatic` and `tensor` are CUBLAS_DEFAULT_MATH, `plain` is CUBLAS_PEDANTIC_MATH, which also turns off
/// products of complex numbers by three real ones instead of four, and `tf32` is CUBLAS_TF32_TENSOR_OP_MATH. The
/// documentation says that the pedantic mode turns tensor cores off; for doubles on an H100 (CUDA 13.0) it does so only
/// in part: they are slower than by `tensor`, and faster than the device is without tensor cores. `tensor` and
/// `tf32` need a device of compute capability 8.0. The environment may still rule: NVIDIA_TF32_OVERRIDE=0 turns `tf32`
/// off. On CPUs `plain` is the only arithmetic that there is, and `automatic` has its bits. On AMD GPUs rocBLAS takes
/// matrix cores where it likes and offers no switch for it: all modes but `automatic` are refused. Source: cuBLAS
/// documentation, "Tensor Core Usage" and cublasMath_t.
enum class MathMode { automatic, tensor, plain, tf32 };

/// "auto", "tensor", "plain" or "tf32".
[[nodiscard]] std::string_view to_string(MathMode mode);
/// The mode of such a name. Throws Error(argument) for any other text.
[[nodiscard]] MathMode math_mode_from(std::string_view text);

namespace blas {

/// Why products of scalars T can't be computed in this mode by the BLAS in use on this rank's device, in one line;
/// empty where they can. It asks the device; Kokkos has to be initialised.
template <Scalar T> [[nodiscard]] std::string trouble_with(MathMode mode);

/// Factor of the mode's additional error of a product: |C - op(A) op(B)|_ij is at most this times |a|_2 |b|_2 beyond
/// the round-off of a sum of products of scalars T, where a is row i of op(A) and b column j of op(B). 0 but for
/// `tf32`, which rounds each factor to 11 significant bits first, to nearest: (1 + 2^-11)^2 - 1, and sqrt(2) times as
/// much for complex T.
template <Scalar T> [[nodiscard]] double added_error(MathMode mode);

}  // namespace blas
}  // namespace heddle
