// Names of methods, accuracies and ends, the values that they name, and reports as text.
#include "core/names.hpp"

#include "core/report_line.hpp"
#include <heddle/eigen/batched.hpp>
#include <heddle/eigen/generalised.hpp>
#include <heddle/eigen/jacobi.hpp>
#include <heddle/eigen/svd.hpp>

namespace heddle::eigen {
namespace {

constexpr heddle::impl::Names<JacobiMethod, 6> methods = {{
    {JacobiMethod::automatic, "automatic"},
    {JacobiMethod::classical, "classical"},
    {JacobiMethod::cyclic, "cyclic"},
    {JacobiMethod::round_robin, "round-robin"},
    {JacobiMethod::blocked, "blocked"},
    {JacobiMethod::preconditioned, "preconditioned"},
}};
constexpr heddle::impl::Names<JacobiAccuracy, 3> accuracies = {{
    {JacobiAccuracy::automatic, "automatic"},
    {JacobiAccuracy::relative, "relative"},
    {JacobiAccuracy::norm, "norm"},
}};
constexpr heddle::impl::Names<JacobiEnd, 5> ends = {{
    {JacobiEnd::diagonal, "diagonal"},
    {JacobiEnd::tolerance, "tolerance"},
    {JacobiEnd::quadratic, "quadratic"},
    {JacobiEnd::sweep_limit, "sweep-limit"},
    {JacobiEnd::rotation_limit, "rotation-limit"},
}};

template <class Names, class Value> std::string_view name_of(const Names& names, Value value) {
  const std::string_view name = heddle::impl::name_in(names, value);
  require(!name.empty(), "eigen: not a value of this enumeration");
  return name;
}
template <class Names> auto value_of(const Names& names, std::string_view text, const char* what) {
  return heddle::impl::value_in(names, text, message_of(what, " \"", text, "\"; expected one of "));
}

}  // namespace

std::string_view to_string(JacobiMethod method) {
  return name_of(methods, method);
}
JacobiMethod jacobi_method_from(std::string_view text) {
  return value_of(methods, text, "Jacobi method");
}
std::string_view to_string(JacobiAccuracy accuracy) {
  return name_of(accuracies, accuracy);
}
JacobiAccuracy jacobi_accuracy_from(std::string_view text) {
  return value_of(accuracies, text, "Jacobi accuracy");
}
std::string_view to_string(JacobiEnd end) {
  return name_of(ends, end);
}

namespace {

// The fields of a report under the name of a report that derives from it.
heddle::impl::ReportLine line_of(std::string_view name, const JacobiReport& report) {
  return heddle::impl::ReportLine(name)
      .field("converged", report.converged)
      .field("end", report.end)
      .field("method", report.method)
      .field("accuracy", report.accuracy)
      .field("sweeps", report.sweeps)
      .field("rotations", report.rotations)
      .field("off_norms", report.off_norms);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const JacobiBatchedReport& report) {
  return out << heddle::impl::ReportLine("JacobiBatchedReport")
                    .field("not_converged", report.not_converged)
                    .field("first_failed", report.first_failed)
                    .field("sweeps", report.sweeps)
                    .field("rotations", report.rotations);
}

std::ostream& operator<<(std::ostream& out, const JacobiGeneralisedReport& report) {
  return out << line_of("JacobiGeneralisedReport", static_cast<const JacobiReport&>(report))
                    .field("least_pivot", report.least_pivot)
                    .field("growth", report.growth)
                    .field("refinement_sweeps", report.refinement_sweeps);
}

std::ostream& operator<<(std::ostream& out, const JacobiReport& report) {
  return out << line_of("JacobiReport", report);
}

std::ostream& operator<<(std::ostream& out, const SvdBatchedReport& report) {
  return out << heddle::impl::ReportLine("SvdBatchedReport")
                    .field("not_converged", report.not_converged)
                    .field("first_failed", report.first_failed)
                    .field("sweeps", report.sweeps)
                    .field("rotations", report.rotations);
}

}  // namespace heddle::eigen
