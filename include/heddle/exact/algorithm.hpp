// Ways to form a sum: those that round it once, and others to compare them with.
#pragma once

#include <string_view>

namespace heddle::exact {

/// How sums and inner products are formed. Down to expansion_8 they are exact and rounded once, so that all of these
/// give the same bits, at different costs. The last two round more than once: their bits depend on the number of
/// threads and on the backend, and they are here to be compared with.
///
/// An expansion is an unevaluated sum of so many doubles, each of which takes what the one before loses to rounding;
/// what the last one loses goes into a long accumulator of integers (S. Collange, D. Defour, S. Graillat, R. Iakymchuk,
/// "Numerical reproducibility for the parallel reduction on multi- and many-core architectures", Parallel Computing 49,
/// 2015).
enum class Algorithm {
  automatic,    ///< Twice the precision with a bound of its error; where that leaves a rounding open, exactly.
  accumulator,  ///< Every term into a long accumulator.
  expansion_2,  ///< Expansions of two doubles.
  expansion_3,
  expansion_4,
  expansion_5,
  expansion_6,
  expansion_7,
  expansion_8,
  twice,  ///< Twice the precision, whatever is lost beyond it.
  plain,  ///< Every product and every sum is rounded.
};

/// Whether results are correctly rounded.
[[nodiscard]] constexpr bool is_exact(Algorithm algorithm) {
  return algorithm != Algorithm::twice && algorithm != Algorithm::plain;
}

/// Whether trsv() takes it in this build: on GPUs, whose kernels for it have no accumulator, automatic, twice and
/// plain.
[[nodiscard]] bool trsv_takes(Algorithm algorithm);
/// Whether lu() takes it in this build: on GPUs automatic alone.
[[nodiscard]] bool lu_takes(Algorithm algorithm);

/// "auto", "accumulator", "expansion-2" to "expansion-8", "twice" or "plain".
[[nodiscard]] std::string_view to_string(Algorithm algorithm);
/// The algorithm of such a name. Throws Error(argument) for any other.
[[nodiscard]] Algorithm algorithm_from(std::string_view text);

}  // namespace heddle::exact
