// The terms of a Taylor series, as a table and a picture.
#pragma once

#include "drivers/plot/pictures.hpp"
#include "drivers/support/context.hpp"
#include <heddle/expm/expm.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::driver {

/// The terms of a series with the norms that they are compared with.
struct TermsTable {
  Index rows = 0;
  std::string scalar;
  bool times_minus_i = false;      ///< The terms are those of exp(-i A).
  double norm1 = 0.0;              ///< ||A||_1
  double exponential_norm1 = 0.0;  ///< ||exp(A)||_1, as computed.
  double unit_roundoff = 0.0;      ///< Unit roundoff of the scalar type.
  std::vector<ExpmTerm> terms;
};

/// Says the terms, a line each, and what their cancellation costs.
void say_terms(const Context& context, const TermsTable& table);
/// The same for a report: norms, traces and `cancellation`, the largest norm over that of exp(A).
void enter_terms(nlohmann::ordered_json& results, const TermsTable& table);

/// Throws Error(argument) or Error(output), before anything is computed, if the files can't be written or coincide with
/// `result` or `json`. For one rank.
void require_writable_terms(const std::string& file, const std::string& picture, const std::string& result,
                            const std::string& json);
/// Write the table to `file` and draw it as `picture`, unless these are empty. For one rank.
void write_terms(const std::string& file, const std::string& picture, const TermsTable& table);

/// Whether a file begins as such a table does.
[[nodiscard]] bool looks_like_terms(const std::filesystem::path& path);

inline constexpr Picture terms_picture = {"plot/expm_terms.py", "matplotlib", "python3-matplotlib"};

}  // namespace heddle::driver
