// Every file that a harness of libFuzzer found to be read wrongly once, and every seed, is read or refused.
#include "fuzz/readers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace heddle::test {
namespace {

using std::filesystem::path;

std::vector<path> files_in(const path& folder, std::string_view ending) {
  std::vector<path> files;
  if (!std::filesystem::is_directory(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ending) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class FuzzFound : public ::testing::TestWithParam<Reader> {
 protected:
  static std::size_t read_all(const path& folder) {
    const Reader& reader = GetParam();
    std::size_t files = 0;
    for (const path& file : files_in(folder, reader.ending)) {
      SCOPED_TRACE(file.string());
      EXPECT_NO_THROW(reader.read(file));
      ++files;
    }
    return files;
  }
};

TEST_P(FuzzFound, IsReadOrRefused) {
  const path here = HEDDLE_FUZZ_FILES;
  const std::string name(GetParam().name);
  read_all(here / "found" / name);
  const std::size_t seeds = read_all(here / "seeds" / name) + read_all(HEDDLE_MESH_DATA) + read_all(HEDDLE_DECKS);
  EXPECT_GT(seeds, 0U);
}

std::string name_of(const ::testing::TestParamInfo<Reader>& info) {
  return std::string(info.param.name);
}

INSTANTIATE_TEST_SUITE_P(Library, FuzzFound, ::testing::ValuesIn(library_readers().begin(), library_readers().end()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Command, FuzzFound, ::testing::ValuesIn(command_readers().begin(), command_readers().end()),
                         name_of);

}  // namespace
}  // namespace heddle::test
