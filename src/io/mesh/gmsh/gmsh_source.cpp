// Numbers of a Gmsh file, as text or as bytes.
#include "io/mesh/gmsh/gmsh_source.hpp"

namespace heddle::impl {

namespace {

// The line without white space before and after.
std::string_view trimmed(std::string_view line) {
  constexpr std::string_view spaces = " \t\r";
  const auto begin = line.find_first_not_of(spaces);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(spaces) - begin + 1);
}

}  // namespace

GmshSource::GmshSource(const std::filesystem::path& path) : reader_(path) {
  std::string name;
  const bool any = next_section(name);
  if (name != "MeshFormat") {
    reader_.refuse("expected $MeshFormat, as Gmsh's files begin since version 2, found ",
                   any ? impl::quoted("$" + name) : "the end of the file");
  }
  read_format();
  end_section("the format");
}

void GmshSource::read_format() {
  begin_line("'version file-type data-size'");
  const std::string_view version = next_word(line_);
  if (version == "2" || version == "2.0" || version == "2.1" || version == "2.2") {
    format_ = GmshFormat::v2;
  } else if (version == "4" || version == "4.0") {
    format_ = GmshFormat::v40;
  } else if (version == "4.1") {
    format_ = GmshFormat::v41;
  } else {
    reader_.refuse("version ", quoted(version), " is not read; 2.0 to 2.2, 4.0 and 4.1 are");
  }
  const auto type = next<int>("the file type");
  if (type != 0 && type != 1) reader_.refuse("the file type is ", type, ", where 0 (text) or 1 (binary) is expected");
  const auto bytes = next<int>("the data size");
  if (bytes != 8) reader_.refuse("the data size is ", bytes, ", where 8 is expected");
  end_line();
  if (type == 0) return;
  if (format_ == GmshFormat::v40) {
    reader_.refuse("version 4.0 is read as text alone; gmsh -save -format msh41 makes a file that is read");
  }
  binary_ = true;
  in_line_ = false;
  const auto one = next<std::int32_t>("the number 1");
  swapped_ = one == 1 << 24;
  if (one != 1 && !swapped_) refuse("the number is ", one, ", where 1 is expected in one byte order or the other");
}

bool GmshSource::next_section(std::string& name) {
  in_line_ = true;
  if (!reader_.next_filled_line(line_)) return false;
  const std::string_view word = trimmed(line_);
  if (word.front() != '$') reader_.refuse("expected the beginning of a section, as $Nodes, found ", quoted(word));
  section_ = word.substr(1);
  section_place_ = reader_.place();
  name = section_;
  return true;
}

void GmshSource::skip_section() {
  const std::string end = "$End" + section_;
  std::string_view line;
  while (reader_.next_line(line)) {
    if (trimmed(line) == end) return;
  }
  throw Error(ErrorKind::input, message_of(reader_.name(), ": the file ends within $", printable(section_),
                                           ", which begins at ", section_place_, "; ", printable(end), " is expected"));
}

void GmshSource::end_section(const std::string& done) {
  std::string_view line;
  std::string found = "the end of the file";
  if (reader_.next_filled_line(line)) {
    if (trimmed(line).substr(0, 4) == "$End" && trimmed(line).substr(4) == section_) return;
    found = quoted(trimmed(line));
  }
  refuse("expected $End", printable(section_), " after ", done, ", found ", found);
}

void GmshSource::begin_record(const char* what) {
  if (binary_) {
    in_line_ = false;
  } else {
    begin_line(what);
  }
}

void GmshSource::begin_line(const char* what) {
  in_line_ = true;
  if (!reader_.next_filled_line(line_)) refuse("the file ends where ", what, " is expected");
}

std::string_view GmshSource::text_line(const char* what) {
  begin_line(what);
  return trimmed(line_);
}

double GmshSource::next_any(const char* what) {
  double value = 0;
  if (binary_ && !in_line_) {
    if (!reader_.next_bytes(&value, sizeof(value))) refuse("the file ends where ", what, " is expected");
    auto* const bytes = reinterpret_cast<unsigned char*>(&value);
    if (swapped_) std::reverse(bytes, bytes + sizeof(value));
    return value;
  }
  const std::string_view word = next_word(line_);
  if (word.empty()) refuse("expected ", what, ", found the end of the line");
  if (number_from(word, value) != NumberFault::none) refuse("expected ", what, ", found ", quoted(word));
  return value;
}

void GmshSource::end_record() {
  if (!binary_ || in_line_) end_line();
}

}  // namespace heddle::impl
