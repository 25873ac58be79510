// A folder for the files of one test.
#pragma once

#include <heddle/io/matrix_file.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace heddle::test {

/// Made by rank 0, known to all ranks, and removed with its contents by rank 0 once all ranks are done with it.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const Communicator& comm) : comm_(comm) {
    comm_.on_rank(0, [&] {
      std::string name = (std::filesystem::path(::testing::TempDir()) / "heddle-XXXXXX").string();
      if (::mkdtemp(name.data()) == nullptr) throw Error(ErrorKind::output, "no temporary folder: " + name);
      name_ = name;
    });
    comm_.broadcast(name_, 0);
  }
  ~TemporaryFolder() {
    comm_.barrier();
    if (comm_.rank() == 0) std::filesystem::remove_all(name_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::filesystem::path operator/(const std::string& file) const {
    return std::filesystem::path(name_) / file;
  }
  /// Path of a new file with this text.
  [[nodiscard]] std::filesystem::path write(const std::string& file, const std::string& text) const {
    comm_.on_rank(0, [&] { std::ofstream(*this / file, std::ios::binary) << text; });
    return *this / file;
  }
  /// Number of files in it, on rank 0.
  [[nodiscard]] long files() const {
    return std::distance(std::filesystem::directory_iterator(name_), std::filesystem::directory_iterator());
  }

 private:
  const Communicator& comm_;
  std::string name_;
};

/// The message and kind of the Error that `work` throws; fails the test where it throws none.
template <class Work> Error error_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no Error was thrown";
  return {ErrorKind::computation, ""};
}

/// Placements that differ in every way that panels and messages can see.
inline std::vector<PlacementChoice> placements(int ranks) {
  return {[ranks](Index m, Index n) { return Placement::row_bands(m, n, ranks); },
          [ranks](Index m, Index n) { return Placement::column_bands(m, n, ranks); },
          [ranks](Index m, Index n) { return Placement::on_rank(m, n, ranks - 1); },
          [ranks](Index m, Index n) { return Placement::block_cyclic(m, n, 2, 3, 1, ranks); },
          [ranks](Index m, Index n) {
            return ranks % 2 == 0 ? Placement::block_cyclic(m, n, 3, 1, 2, ranks / 2)
                                  : Placement::block_cyclic(m, n, 1, 2, ranks, 1);
          }};
}

}  // namespace heddle::test
