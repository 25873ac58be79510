// Reports of factorizations and of solutions as text.
#include "core/instantiate.hpp"
#include "core/report_line.hpp"
#include <heddle/solve/batched.hpp>
#include <heddle/solve/qr.hpp>
#include <heddle/solve/solve.hpp>
#include <heddle/solve/syrk.hpp>

#include <string_view>

namespace heddle {

namespace {

// The fields of a report under the name of a report that derives from it.
heddle::impl::ReportLine line_of(std::string_view name, const FactorizationReport& report) {
  return heddle::impl::ReportLine(name)
      .field("info", report.info)
      .field("seconds", report.seconds)
      .field("gflops", report.gflops)
      .field("arithmetic", report.arithmetic)
      .field("block", report.block)
      .field("group", report.group)
      .field("memory_bytes", report.memory_bytes);
}
heddle::impl::ReportLine line_of(std::string_view name, const LuReport& report) {
  return line_of(name, static_cast<const FactorizationReport&>(report))
      .field("pivots", report.pivots)
      .field("growth", report.growth);
}
heddle::impl::ReportLine line_of(heddle::impl::ReportLine line, const RoundingReport& report) {
  return line.field("correctly_rounded", report.correctly_rounded)
      .field("undecided", report.undecided)
      .field("undecided_row", report.undecided_row)
      .field("undecided_column", report.undecided_column)
      .field("distance_to_tie", report.distance_to_tie);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const FactorizationReport& report) {
  return out << line_of("FactorizationReport", report);
}

std::ostream& operator<<(std::ostream& out, const RoundingReport& report) {
  return out << line_of(heddle::impl::ReportLine("RoundingReport"), report);
}

std::ostream& operator<<(std::ostream& out, const LuReport& report) {
  return out << line_of("LuReport", report);
}

template <Scalar T> std::ostream& operator<<(std::ostream& out, const QrReport<T>& report) {
  return out << line_of("QrReport", static_cast<const FactorizationReport&>(report)).field("tau", report.tau);
}

std::ostream& operator<<(std::ostream& out, const LeastSquaresReport& report) {
  return out << line_of(heddle::impl::ReportLine("LeastSquaresReport")
                            .field("qr", report.qr)
                            .field("seconds", report.seconds)
                            .field("residual_norms", report.residual_norms)
                            .field("condition", report.condition),
                        static_cast<const RoundingReport&>(report));
}

std::ostream& operator<<(std::ostream& out, const SolveReport& report) {
  return out << line_of(heddle::impl::ReportLine("SolveReport")
                            .field("factorization", report.factorization)
                            .field("equilibrated", report.equilibrated)
                            .field("seconds", report.seconds)
                            .field("memory_bytes", report.memory_bytes)
                            .field("normwise_error", report.normwise_error)
                            .field("componentwise_error", report.componentwise_error)
                            .field("scaled_residual", report.scaled_residual)
                            .field("condition", report.condition)
                            .field("scaled_condition", report.scaled_condition)
                            .field("ill_conditioned", report.ill_conditioned)
                            .field("overflow", report.overflow)
                            .field("error_bound", report.error_bound),
                        static_cast<const RoundingReport&>(report));
}

std::ostream& operator<<(std::ostream& out, const BatchedSystem& system) {
  return out << heddle::impl::ReportLine("BatchedSystem")
                    .field("matrix", system.matrix)
                    .field("info", system.info)
                    .field("ill_conditioned", system.ill_conditioned)
                    .field("scaled_condition", system.scaled_condition)
                    .field("overflow", system.overflow);
}

std::ostream& operator<<(std::ostream& out, const SolveBatchedReport& report) {
  return out << heddle::impl::ReportLine("SolveBatchedReport").field("remarkable", report.remarkable);
}

std::ostream& operator<<(std::ostream& out, const InverseReport& report) {
  return out << line_of(line_of("InverseReport", static_cast<const LuReport&>(report))
                            .field("equilibrated", report.equilibrated)
                            .field("condition", report.condition)
                            .field("scaled_condition", report.scaled_condition)
                            .field("ill_conditioned", report.ill_conditioned),
                        static_cast<const RoundingReport&>(report));
}

std::ostream& operator<<(std::ostream& out, const SyrkReport& report) {
  return out << heddle::impl::ReportLine("SyrkReport")
                    .field("seconds", report.seconds)
                    .field("gflops", report.gflops)
                    .field("arithmetic", report.arithmetic)
                    .field("block", report.block)
                    .field("multiply_adds", report.multiply_adds);
}

#define INSTANTIATE(T) template std::ostream& operator<<(std::ostream&, const QrReport<T>&)
HEDDLE_FOR_EACH_SCALAR(INSTANTIATE);

}  // namespace heddle
