// Algorithms that form a sum: those that round it once, and others for comparison.
#pragma once

#include <string_view>

namespace heddle::exact {

/// How sums and inner products are formed. The algorithms down to expansion_8 are exact and rounded once, so that they
/// give the same bits at different costs. The last two round more than once and serve for comparison: their bits depend
/// on the number of threads and on the backend.
///
/// An expansion is an unevaluated sum of the given number of doubles, each of which takes the rounding error of the one
/// before; the error of the last goes into a long accumulator of integers (S. Collange, D. Defour, S. Graillat, R.
/// Iakymchuk, "Numerical reproducibility for the parallel reduction on multi- and many-core architectures", Parallel
/// Computing 49, 2015).
enum class Algorithm {
  automatic,    ///< Twice the precision with an error bound; exactly if that leaves the rounding open.
  accumulator,  ///< Every term into a long accumulator.
  expansion_2,  ///< Expansions of two doubles.
  expansion_3,
  expansion_4,
  expansion_5,
  expansion_6,
  expansion_7,
  expansion_8,
  twice,  ///< Twice the precision; losses beyond it are ignored.
  plain,  ///< Every product and every sum is rounded.
};

/// Returns true if results are correctly rounded.
[[nodiscard]] constexpr bool is_exact(Algorithm algorithm) {
  return algorithm != Algorithm::twice && algorithm != Algorithm::plain;
}

/// Returns true if trsv() takes the algorithm in this build: on GPUs, whose kernels have no accumulator, only
/// automatic, twice and plain.
[[nodiscard]] bool trsv_takes(Algorithm algorithm);
/// Returns true if lu() takes the algorithm in this build: on GPUs only automatic.
[[nodiscard]] bool lu_takes(Algorithm algorithm);

/// Returns "auto", "accumulator", "expansion-2" to "expansion-8", "twice" or "plain".
[[nodiscard]] std::string_view to_string(Algorithm algorithm);
/// Returns the algorithm of that name. Throws Error(argument) for any other text.
[[nodiscard]] Algorithm algorithm_from(std::string_view text);

}  // namespace heddle::exact
