// Names of the algorithms, which of them trsv() and lu() take, and reports as text.
#include "core/names.hpp"

#include "core/on_host.hpp"
#include "core/report_line.hpp"
#include <heddle/exact/algorithm.hpp>
#include <heddle/exact/lu.hpp>
#include <heddle/exact/segmented.hpp>

namespace heddle::exact {
namespace {

constexpr heddle::impl::Names<Algorithm, 11> algorithms = {{
    {Algorithm::automatic, "auto"},
    {Algorithm::accumulator, "accumulator"},
    {Algorithm::expansion_2, "expansion-2"},
    {Algorithm::expansion_3, "expansion-3"},
    {Algorithm::expansion_4, "expansion-4"},
    {Algorithm::expansion_5, "expansion-5"},
    {Algorithm::expansion_6, "expansion-6"},
    {Algorithm::expansion_7, "expansion-7"},
    {Algorithm::expansion_8, "expansion-8"},
    {Algorithm::twice, "twice"},
    {Algorithm::plain, "plain"},
}};

}  // namespace

bool trsv_takes(Algorithm algorithm) {
  return heddle::impl::on_host || algorithm == Algorithm::automatic || !is_exact(algorithm);
}
bool lu_takes(Algorithm algorithm) {
  return heddle::impl::on_host || algorithm == Algorithm::automatic;
}

std::string_view to_string(Algorithm algorithm) {
  return heddle::impl::name_in(algorithms, algorithm);
}
Algorithm algorithm_from(std::string_view text) {
  return heddle::impl::value_of(algorithms, text, "algorithm of sums");
}

std::ostream& operator<<(std::ostream& out, const SolveReport& report) {
  return out << heddle::impl::ReportLine("SolveReport")
                    .field("info", report.info)
                    .field("refinements", report.refinements)
                    .field("backward_error", report.backward_error);
}

std::ostream& operator<<(std::ostream& out, const SegmentedSumReport& report) {
  return out << heddle::impl::ReportLine("SegmentedSumReport").field("reopened", report.reopened);
}

std::ostream& operator<<(std::ostream& out, const KeyedSumReport& report) {
  return out << heddle::impl::ReportLine("KeyedSumReport").field("reopened", report.reopened);
}

}  // namespace heddle::exact
