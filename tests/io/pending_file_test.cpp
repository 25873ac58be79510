#include "io/temporary_folder.hpp"
#include <heddle/core/pending_file.hpp>

#include <gtest/gtest.h>

#include <fstream>

namespace heddle {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// One rank's business; the others only agree on folders.
class PendingFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (comm_.rank() != 0) GTEST_SKIP() << "files are written by rank 0 alone";
  }
  Communicator comm_{MPI_COMM_WORLD};
  test::TemporaryFolder folder_{comm_};
};

TEST_F(PendingFileTest, AppearsWithCommit) {
  const auto target = folder_ / "out";
  {
    PendingFile file(target);
    std::ofstream(file.path()) << "new";
    EXPECT_FALSE(std::filesystem::exists(target));
    file.commit();
  }
  EXPECT_EQ(text_of(target), "new");
  EXPECT_EQ(folder_.files(), 1);
}

TEST_F(PendingFileTest, LeavesTheOldFileWithoutCommit) {
  const auto target = folder_ / "out";
  std::ofstream(target) << "old";
  {
    const PendingFile file(target);
    std::ofstream(file.path()) << "new";
  }
  EXPECT_EQ(text_of(target), "old");
  EXPECT_EQ(folder_.files(), 1);
}

TEST_F(PendingFileTest, ReplacesTheOldFileAndKeepsLinks) {
  const auto target = folder_ / "out";
  const auto link = folder_ / "link";
  std::ofstream(target) << "old";
  std::filesystem::create_symlink(target, link);
  PendingFile file(link);
  std::ofstream(file.path()) << "new";
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(text_of(target), "new");
}

TEST_F(PendingFileTest, RefusesWhatCantBeWritten) {
  const auto refuse = [](const std::filesystem::path& target, const std::string& reason) {
    const Error error = test::error_of([&] { const PendingFile file(target); });
    EXPECT_EQ(error.kind(), ErrorKind::output);
    EXPECT_EQ(error.what(), target.string() + ": can't be written: " + reason);
  };
  refuse(folder_ / "none/out", "No such file or directory");
  refuse(folder_ / "", "it is a folder");
  refuse("/dev/null", "it is not a regular file");
}

}  // namespace
}  // namespace heddle
