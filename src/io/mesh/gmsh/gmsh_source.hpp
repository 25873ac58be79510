// The numbers of a Gmsh file, be they text or bytes, and where each stands.
#pragma once

#include "io/matrix/text_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::impl {

/// Major and minor version of the format.
enum class GmshFormat { v2, v40, v41 };

/// A file of sections, "$Name" to "$EndName". As text, their records stand on a line each; as bytes, one after the
/// other.
class GmshSource {
 public:
  /// Opens the file and reads its $MeshFormat.
  explicit GmshSource(const std::filesystem::path& path);

  [[nodiscard]] GmshFormat format() const noexcept { return format_; }
  [[nodiscard]] bool binary() const noexcept { return binary_; }
  /// Bytes in the file.
  [[nodiscard]] std::uintmax_t size() const noexcept { return reader_.size(); }

  /// Begins the next section; false at the end of the file.
  bool next_section(std::string& name);
  /// Passes over the rest of the section.
  void skip_section();
  /// Expects the section's end; `done` says after what, as "5 nodes".
  void end_section(const std::string& done);

  /// Begins a record; `what` names it where the file ends. A line may be asked for in a binary file too.
  void begin_record(const char* what);
  void begin_line(const char* what);
  /// Text: refuses what is left on the line.
  void end_record();
  void end_line() { require_end_of_line(reader_, line_); }

  /// The record's next number; the C++ type is the one in a binary file.
  template <class Number> Number next(const char* what) {
    if (binary_ && !in_line_) return next_bytes<Number>(what);
    return next_number<Number>(reader_, line_, what);
  }

  /// The next number, which need not be finite.
  double next_any(const char* what);
  /// The next line as it is, without white space around it.
  std::string_view text_line(const char* what);

  /// Throws Error(input) naming the line, or the byte and section, of what was read last.
  template <class... Parts> [[noreturn]] void refuse(const Parts&... parts) const {
    if (!binary_) reader_.refuse(parts...);
    reader_.refuse("in $", printable(section_), ": ", parts...);
  }

 private:
  template <class Number> Number next_bytes(const char* what) {
    Number value{};
    if (!reader_.next_bytes(&value, sizeof(value))) refuse("the file ends where ", what, " is expected");
    auto* const bytes = reinterpret_cast<unsigned char*>(&value);
    if (swapped_) std::reverse(bytes, bytes + sizeof(value));
    if constexpr (std::is_floating_point_v<Number>) {
      if (!std::isfinite(value)) refuse(what, " is not finite");
    }
    return value;
  }
  void read_format();

  TextReader reader_;
  GmshFormat format_ = GmshFormat::v2;
  bool binary_ = false;
  bool swapped_ = false;  // From a machine of another byte order.
  bool in_line_ = true;
  std::string section_;
  std::string_view line_;
  std::string section_place_;
};

}  // namespace heddle::impl
