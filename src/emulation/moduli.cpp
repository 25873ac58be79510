// Choice of the number of moduli of a product, from its inner dimension and its probe.
#include "core/instantiate.hpp"
#include "core/names.hpp"
#include "emulation/emulated.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle {
namespace {

// Round-off of a sum of `inner` products of T, relative to |a| |b|.
template <Scalar T> double round_off(Index inner) {
  return std::sqrt(static_cast<double>(std::min<Index>(inner, 16384))) * static_cast<double>(unit_roundoff<T>);
}

}  // namespace

template <Scalar T> double emulation_error(Index inner, int moduli) {
  require(inner >= 0, "emulation: an inner dimension of ", inner, "; expected at least 0");
  const impl::ResidueSystem& system = impl::residue_system(impl::field_of<T>, moduli);
  // x' = 2^s x + d, |d_k| <= 1/2 (of complex x each part), so |d|_2 <= root; the largest s leaves 2^s |x|_2 above half
  // of the reach, less the sums' rounding up. |a'.b' - 2^s a . 2^t b| <= |d_a| |b'| + |a'| |d_b| + |d_a| |d_b|.
  const double root = 0.5 * std::sqrt(static_cast<double>(inner) * (is_complex<T> ? 2.0 : 1.0));
  const double rounded_up = 1.0 + 0x1p-13 * 2.0 * root;
  const double least = 0.5 * (system.reach - root) / rounded_up;
  const double each = root / least;
  return each * (2.0 + each) + each * each * 2.0;
}

template <Scalar T> int emulation_moduli(Index inner, double tolerance) {
  require(tolerance >= 0.0, "emulation: tolerance ", tolerance, "; expected a positive number, or 0 for round-off");
  const double wanted = tolerance > 0.0 ? tolerance : round_off<T>(inner);
  for (int count = impl::least_moduli; count <= impl::most_moduli; ++count) {
    if (emulation_error<T>(inner, count) <= wanted) {
      return count;
    }
  }
  throw Error(ErrorKind::argument, message_of("emulation: tolerance ", tolerance, " with inner dimension ", inner,
                                              " needs more than ", impl::most_moduli, " moduli"));
}

namespace impl {

int leading_width(Index inner) {
  int width = 7;
  while (width > 1 && ((1 << width) - 1) * ((1 << width) - 1) * inner >= Index{1} << 31) --width;
  return width;
}

template <Scalar T> int moduli_of(Index inner, const EmulationOptions& options) {
  require(options.most_moduli >= least_moduli && options.most_moduli <= most_moduli, "emulation: at most ",
          options.most_moduli, " moduli; expected ", least_moduli, " to ", most_moduli);
  if (options.moduli == 0) {
    return emulation_moduli<T>(inner);
  }
  require(options.moduli >= least_moduli && options.moduli <= most_moduli, "emulation: ", options.moduli,
          " moduli; expected ", least_moduli, " to ", most_moduli, ", or 0 for as many as round-off needs");
  return options.moduli;
}

template <Scalar T>
EmulationReport choose_emulation(Index inner, Index elements, const Spread& spread, const EmulationOptions& options) {
  EmulationReport report;
  report.spread = spread.undecided > worth_deciding(elements) ? std::numeric_limits<double>::infinity() : spread.ratio;
  const double wanted = round_off<T>(inner) / std::max(1.0, report.spread / usual_spread);
  const int least = moduli_of<T>(inner, options);
  const int most = std::max(least, options.most_moduli);
  report.moduli = least;
  while (report.moduli < most && !(emulation_error<T>(inner, report.moduli) <= wanted)) ++report.moduli;
  report.error_bound = emulation_error<T>(inner, report.moduli);
  if (!(report.error_bound <= wanted) && options.fallback != Fallback::none) {
    report.fallback = options.fallback;
    report.moduli = 0;
    report.error_bound = 0.0;
  }
  return report;
}

}  // namespace impl

#define HEDDLE_INSTANTIATE(T)                                                                                     \
  template int impl::moduli_of<T>(Index, const EmulationOptions&);                                                \
  template EmulationReport impl::choose_emulation<T>(Index, Index, const impl::Spread&, const EmulationOptions&); \
  template double emulation_error<T>(Index, int);                                                                 \
  template int emulation_moduli<T>(Index, double)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
