// Names of arithmetics, emulation schemes and fallbacks, and the report as text.
#include "core/names.hpp"

#include "core/report_line.hpp"
#include <heddle/emulation/emulation.hpp>

namespace heddle {
namespace {

constexpr impl::Names<Arithmetic, 3> arithmetics = {
    {{Arithmetic::native, "native"}, {Arithmetic::emulated, "emulated"}, {Arithmetic::automatic, "auto"}}};
constexpr impl::Names<Fallback, 3> fallbacks = {
    {{Fallback::exact, "exact"}, {Fallback::native, "native"}, {Fallback::none, "none"}}};
constexpr impl::Names<EmulationScheme, 2> schemes = {
    {{EmulationScheme::residues, "residues"}, {EmulationScheme::slices, "slices"}}};

}  // namespace

std::string_view to_string(Arithmetic arithmetic) {
  return impl::name_of(arithmetics, arithmetic, "arithmetic");
}

Arithmetic arithmetic_from(std::string_view text) {
  return impl::value_of(arithmetics, text, "arithmetic");
}

std::string_view to_string(EmulationScheme scheme) {
  return impl::name_of(schemes, scheme, "emulation scheme");
}

EmulationScheme emulation_scheme_from(std::string_view text) {
  return impl::value_of(schemes, text, "emulation scheme");
}

std::string_view to_string(Fallback fallback) {
  return impl::name_of(fallbacks, fallback, "fallback");
}

Fallback fallback_from(std::string_view text) {
  return impl::value_of(fallbacks, text, "fallback");
}

std::ostream& operator<<(std::ostream& out, const EmulationReport& report) {
  return out << heddle::impl::ReportLine("EmulationReport")
                    .field("moduli", report.moduli)
                    .field("error_bound", report.error_bound)
                    .field("spread", report.spread)
                    .field("fallback", report.fallback);
}

}  // namespace heddle
