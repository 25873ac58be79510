// Tests of energy counters with a fake library and a fake folder.
#include "support/energy.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace heddle::perf {
namespace {

namespace fs = std::filesystem;

// A temporary folder, removed with the test.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("heddle-energy-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text << '\n';
  }
  void add_zone(const std::string& zone, const std::string& name, const std::string& energy) const {
    write(zone + "/name", name);
    write(zone + "/max_energy_range_uj", "10000000");
    write(zone + "/energy_uj", energy);
  }
  void remove(const std::string& file) const { fs::remove(path_ / file); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

TEST(Nvml, ReadsTheCounterOfTheNamedDevice) {
  const auto counter = nvml_counter("00000000:1b:00.0", HEDDLE_FAKE_NVML);
  ASSERT_NE(counter, nullptr);
  const auto first = counter->joules();
  const auto second = counter->joules();
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_DOUBLE_EQ(*second - *first, 2.5);
}

TEST(Nvml, IsShutDownAsOftenAsItWasBegun) {
  void* const library = dlopen(HEDDLE_FAKE_NVML, RTLD_NOW);
  ASSERT_NE(library, nullptr);
  const auto begun = reinterpret_cast<int (*)()>(dlsym(library, "fake_nvml_begun"));
  {
    const auto counter = nvml_counter("00000000:1b:00.0", HEDDLE_FAKE_NVML);
    EXPECT_EQ(begun(), 1);
  }
  EXPECT_EQ(begun(), 0);
  EXPECT_EQ(nvml_counter("00000000:2b:00.0", HEDDLE_FAKE_NVML), nullptr);
  EXPECT_EQ(begun(), 0);
  dlclose(library);
}

TEST(Nvml, IsAbsentWithoutTheLibraryTheDeviceOrTheFunctions) {
  EXPECT_EQ(nvml_counter("00000000:1b:00.0", "libheddle-no-such-library.so.1"), nullptr);
  EXPECT_EQ(nvml_counter("00000000:2b:00.0", HEDDLE_FAKE_NVML), nullptr);
  EXPECT_EQ(nvml_counter("00000000:1b:00.0", "libm.so.6"), nullptr);
}

TEST(Rapl, AddsUpPackagesAndNothingElse) {
  const Folder folder;
  folder.add_zone("intel-rapl:0", "package-0", "1000000");
  folder.add_zone("intel-rapl:1", "package-1", "2000000");
  folder.add_zone("intel-rapl:0:0", "core", "500000");
  folder.add_zone("intel-rapl:2", "psys", "9000000");
  folder.write("dtpm/uevent", "");
  const auto counter = rapl_counter(folder.path());
  ASSERT_NE(counter, nullptr);
  const double before = counter->joules().value();
  folder.add_zone("intel-rapl:0", "package-0", "1500000");
  folder.add_zone("intel-rapl:1", "package-1", "5000000");
  folder.add_zone("intel-rapl:0:0", "core", "900000");
  folder.add_zone("intel-rapl:2", "psys", "9900000");
  EXPECT_DOUBLE_EQ(counter->joules().value() - before, 3.5);
}

TEST(Rapl, GoesOnWhereACounterBeginsAnew) {
  const Folder folder;
  folder.add_zone("intel-rapl:0", "package-0", "9000000");
  const auto counter = rapl_counter(folder.path());
  ASSERT_NE(counter, nullptr);
  const double before = counter->joules().value();
  folder.add_zone("intel-rapl:0", "package-0", "500000");
  EXPECT_DOUBLE_EQ(counter->joules().value() - before, 1.5);
  folder.add_zone("intel-rapl:0", "package-0", "700000");
  EXPECT_DOUBLE_EQ(counter->joules().value() - before, 1.7);
}

TEST(Rapl, IsAbsentWhereNothingCanBeRead) {
  const Folder folder;
  EXPECT_EQ(rapl_counter(folder.path()), nullptr);
  EXPECT_EQ(rapl_counter(folder.path() + "/none"), nullptr);
  folder.add_zone("intel-rapl:0", "package-0", "not a number");
  EXPECT_EQ(rapl_counter(folder.path()), nullptr);
  folder.add_zone("intel-rapl:0", "package-0", "1");
  const auto counter = rapl_counter(folder.path());
  ASSERT_NE(counter, nullptr);
  EXPECT_TRUE(counter->joules().has_value());
  folder.remove("intel-rapl:0/energy_uj");
  EXPECT_FALSE(counter->joules().has_value());
}

}  // namespace
}  // namespace heddle::perf
