// Tests of files that are pending until they are complete.
#include "io/matrix/hdf5_handle.hpp"
#include "io/temporary_folder.hpp"
#include <heddle/core/pending_file.hpp>
#include <heddle/io/pending_hdf5.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

namespace heddle::pending_file_test {
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

TEST_F(PendingFileTest, KeepsThePermissionsOfWhatItReplaces) {
  const auto mode_of = [](const std::filesystem::path& path) {
    return static_cast<unsigned int>(std::filesystem::status(path).permissions());
  };
  const mode_t before = ::umask(027);
  for (const unsigned int mode : {0600U, 0444U, 0666U, 0755U}) {
    const auto target = folder_ / "kept";
    std::filesystem::remove(target);
    std::ofstream(target) << "old";
    std::filesystem::permissions(target, static_cast<std::filesystem::perms>(mode));
    PendingStream stream(target);
    stream << "new";
    stream.commit();
    EXPECT_EQ(mode_of(target), mode);
    EXPECT_EQ(text_of(target), "new");
  }
  PendingFile(folder_ / "fresh").commit();
  EXPECT_EQ(mode_of(folder_ / "fresh"), 0640U);
  ::umask(before);
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
  refuse("", "its name is empty");
  const std::string name = (folder_ / "out").string();
  const Error cut = test::error_of([&] { const PendingFile file(name + '\0' + "more"); });
  EXPECT_EQ(cut.kind(), ErrorKind::output);
  EXPECT_EQ(cut.what(), name + ": can't be written: its name goes on after a null character");
}

// While it lives, a file of this process may have so many bytes, and more fails as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

TEST_F(PendingFileTest, StreamsAreWrittenOrSayWhyNot) {
  const auto target = folder_ / "out";
  const std::string large(200'000, 'x');
  {
    PendingStream out(target);
    out << "one " << 2.5 << '\n' << large;
    out.commit();
  }
  EXPECT_EQ(text_of(target), "one 2.5\n" + large);
  const FileSizeLimit limit(100'000);
  const auto refused = [&](const auto& work) {
    const Error error = test::error_of(work);
    EXPECT_EQ(error.kind(), ErrorKind::storage);
    EXPECT_EQ(error.what(), target.string() + ": can't be written: File too large");
  };
  refused([&] {
    PendingStream out(target);
    out << large;
  });
  refused([&] {
    PendingStream out(target);
    for (int k = 0; k < 100'001; ++k) out << 'y';
    out.commit();
  });
  EXPECT_EQ(text_of(target), "one 2.5\n" + large);
  EXPECT_EQ(folder_.files(), 1);
}

// HDF5 alone would end the process.
TEST_F(PendingFileTest, HDF5IsWrittenOrSaysWhyNot) {
  const auto target = folder_ / "out.h5";
  std::ofstream(target) << "old";
  const std::vector<double> values(100'000, 1.0);
  const auto fill = [&](const PendingHdf5& file) {
    const hsize_t extent = values.size();
    const impl::Hdf5Space space(H5Screate_simple(1, &extent, nullptr));
    const hid_t dataset =
        H5Dcreate2(file.id(), "values", H5T_NATIVE_DOUBLE, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    // Left open: closing the file closes it.
  };
  for (const rlim_t bytes : {0, 1000, 100'000, 800'100}) {
    const FileSizeLimit limit(bytes);
    const Error error = test::error_of([&] {
      PendingHdf5 file(target);
      fill(file);
      file.commit();
    });
    EXPECT_EQ(error.kind(), ErrorKind::storage) << error.what();
    EXPECT_EQ(error.what(), target.string() + ": can't be written: File too large");
    EXPECT_EQ(text_of(target), "old");
    EXPECT_EQ(folder_.files(), 1);
  }
  PendingHdf5 file(target);
  fill(file);
  file.require_written();
  file.commit();
  const impl::Hdf5File again(H5Fopen(target.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  EXPECT_TRUE(again);
  EXPECT_GT(H5Lexists(again.get(), "values", H5P_DEFAULT), 0);
}

TEST_F(PendingFileTest, ASignalHandlerCanRemoveAll) {
  PendingFile one(folder_ / "one");
  {
    PendingFile two(folder_ / "two");
    two.commit();
  }
  const PendingStream three(folder_ / "three");
  EXPECT_EQ(folder_.files(), 3);
  remove_pending_files();
  EXPECT_EQ(folder_.files(), 1);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "two"));
}

}  // namespace
}  // namespace heddle::pending_file_test
