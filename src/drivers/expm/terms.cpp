// The terms of a Taylor series, as a table and a picture.
#include "drivers/expm/terms.hpp"

#include "drivers/support/outputs.hpp"
#include "drivers/support/process/text.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>
#include <heddle/core/version.hpp>

#include <algorithm>
#include <array>
#include <fstream>

namespace heddle::driver {

namespace {

constexpr const char* first_words = "# heddle expm --terms";

double largest_norm(const TermsTable& table) {
  double largest = 0.0;
  for (const ExpmTerm& term : table.terms) largest = larger(largest, term.norm1);
  return largest;
}

// Return the ratio of the largest term to exp(A); 1 if exp(A) is zero.
double cancellation_of(const TermsTable& table) {
  return table.exponential_norm1 > 0 ? largest_norm(table) / table.exponential_norm1 : 1.0;
}

// Return the traces of the partial sums up to each term, real and imaginary parts.
std::vector<std::array<double, 2>> traces_of_sums(const TermsTable& table) {
  std::vector<std::array<double, 2>> sums;
  std::array<double, 2> sum = {0.0, 0.0};
  for (const ExpmTerm& term : table.terms) {
    sum[0] += term.trace_real;
    sum[1] += term.trace_imaginary;
    sums.push_back(sum);
  }
  return sums;
}

void write_table(const std::filesystem::path& path, const TermsTable& table) {
  PendingStream out(path);
  out << first_words << ", heddle " << version() << " (" << git_hash() << ")\n";
  out << "# rows: " << table.rows << "\n# scalar: " << table.scalar
      << "\n# exponential of: " << (table.times_minus_i ? "-i A" : "A") << '\n';
  out << format("# norm1: %.17g\n# exponential_norm1: %.17g\n# unit_roundoff: %.17g\n", table.norm1,
                table.exponential_norm1, table.unit_roundoff);
  out << "term,norm1,trace_real,trace_imaginary,sum_trace_real,sum_trace_imaginary\n";
  const auto sums = traces_of_sums(table);
  for (std::size_t k = 0; k < table.terms.size(); ++k) {
    const ExpmTerm& term = table.terms[k];
    out << k
        << format(",%.17g,%.17g,%.17g,%.17g,%.17g\n", term.norm1, term.trace_real, term.trace_imaginary, sums[k][0],
                  sums[k][1]);
  }
  out.commit();
}

}  // namespace

void say_terms(const Context& context, const TermsTable& table) {
  context.say("   k   |A^k/k!|_1      trace of the sum up to it");
  const auto sums = traces_of_sums(table);
  for (std::size_t k = 0; k < table.terms.size(); ++k) {
    context.say(format("%4zu   %-12.6g    %.10g %+.10gi", k, table.terms[k].norm1, sums[k][0], sums[k][1]));
  }
  context.say(format("largest term %.4g, %.3g times |exp|_1: rounding it leaves an error of some %.1e",
                     largest_norm(table), cancellation_of(table), table.unit_roundoff * cancellation_of(table)));
}

void enter_terms(nlohmann::ordered_json& results, const TermsTable& table) {
  auto& all = results["terms"] = nlohmann::ordered_json::array();
  for (const ExpmTerm& term : table.terms) {
    all.push_back({{"norm1", term.norm1}, {"trace", {term.trace_real, term.trace_imaginary}}});
  }
  results["cancellation"] = cancellation_of(table);
}

void require_writable_terms(const std::string& file, const std::string& picture, const std::string& result,
                            const std::string& json) {
  require_distinct_outputs({{"--json", json}, {"--output", result}, {"--terms-file", file}, {"--plot", picture}});
  for (const std::string& name : {file, picture}) {
    if (!name.empty()) const PendingFile probe(name);
  }
}

void write_terms(const std::string& file, const std::string& picture, const TermsTable& table) {
  if (!file.empty()) write_table(file, table);
  if (picture.empty()) return;
  if (!file.empty()) return draw(terms_picture, file, picture);
  // The temporary table exists only while it is drawn.
  const PendingFile passing(picture + ".csv");
  write_table(passing.path(), table);
  draw(terms_picture, passing.path(), picture);
}

bool looks_like_terms(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && line.starts_with(first_words);
}

}  // namespace heddle::driver
