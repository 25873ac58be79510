// Reports of exponentials and phi functions as text.
#include "core/report_line.hpp"
#include <heddle/expm/action.hpp>
#include <heddle/expm/expm.hpp>
#include <heddle/expm/frechet.hpp>
#include <heddle/expm/phi.hpp>

namespace heddle {

std::ostream& operator<<(std::ostream& out, const ExpmActionReport& report) {
  return out << heddle::impl::ReportLine("ExpmActionReport")
                    .field("method", report.method)
                    .field("degree", report.degree)
                    .field("steps", report.steps)
                    .field("products", report.products)
                    .field("other_products", report.other_products)
                    .field("truncation", report.truncation)
                    .field("error", report.error)
                    .field("error_is_bound", report.error_is_bound)
                    .field("seconds", report.seconds);
}

std::ostream& operator<<(std::ostream& out, const ExpmReport& report) {
  return out << heddle::impl::ReportLine("ExpmReport")
                    .field("method", report.method)
                    .field("structure", report.structure)
                    .field("degree", report.degree)
                    .field("squarings", report.squarings)
                    .field("quintuplings", report.quintuplings)
                    .field("products", report.products)
                    .field("probes", report.probes)
                    .field("norm1", report.norm1)
                    .field("alpha", report.alpha)
                    .field("shift_real", report.shift_real)
                    .field("shift_imaginary", report.shift_imaginary)
                    .field("backward_error", report.backward_error)
                    .field("balanced", report.balanced)
                    .field("residual", report.residual)
                    .field("certificate", report.certificate)
                    .field("certificate_seconds", report.certificate_seconds)
                    .field("tile", report.tile)
                    .field("seconds", report.seconds)
                    .field("gemm_seconds", report.gemm_seconds)
                    .field("flops", report.flops);
}

std::ostream& operator<<(std::ostream& out, const ExpmFrechetReport& report) {
  return out << heddle::impl::ReportLine("ExpmFrechetReport")
                    .field("method", report.method)
                    .field("degree", report.degree)
                    .field("squarings", report.squarings)
                    .field("products", report.products)
                    .field("probes", report.probes)
                    .field("norm1", report.norm1)
                    .field("beta", report.beta)
                    .field("shift_real", report.shift_real)
                    .field("shift_imaginary", report.shift_imaginary)
                    .field("backward_error", report.backward_error)
                    .field("tile", report.tile)
                    .field("seconds", report.seconds)
                    .field("gemm_seconds", report.gemm_seconds)
                    .field("flops", report.flops);
}

std::ostream& operator<<(std::ostream& out, const PhiReport& report) {
  return out << heddle::impl::ReportLine("PhiReport")
                    .field("structure", report.structure)
                    .field("degree", report.degree)
                    .field("squarings", report.squarings)
                    .field("products", report.products)
                    .field("probes", report.probes)
                    .field("norm1", report.norm1)
                    .field("alpha", report.alpha)
                    .field("error", report.error)
                    .field("tile", report.tile)
                    .field("seconds", report.seconds)
                    .field("gemm_seconds", report.gemm_seconds)
                    .field("flops", report.flops);
}

}  // namespace heddle
