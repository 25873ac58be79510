// main() of every test program: MPI and Kokkos around GoogleTest, one output of rank 0, failures from every rank.
// Arguments name source files, whose tests alone are run.
#include <heddle/comm/device.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <set>
#include <string>
#include <string_view>

namespace {

// Whether `name` is one that `pattern` stands for, in which * is any text and ? any character.
bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
  }
  return !name.empty() && (pattern.front() == '?' || pattern.front() == name.front()) &&
         matches(pattern.substr(1), name.substr(1));
}

// Whether `name` is among those of a filter's patterns, which colons separate.
bool matches_one(std::string_view patterns, std::string_view name) {
  for (;;) {
    const std::size_t end = patterns.find(':');
    if (matches(patterns.substr(0, end), name)) return true;
    if (end == std::string_view::npos) return false;
    patterns.remove_prefix(end + 1);
  }
}

// Narrow GoogleTest's filter to the tests that the files contain. Return the first file that contains none, or nothing.
std::string select_files(const std::set<std::string>& files) {
  const std::string filter = GTEST_FLAG_GET(filter);
  const std::size_t minus = filter.find('-');
  const std::string chosen = minus == 0 ? "*" : filter.substr(0, minus);
  std::set<std::string> empty = files;
  std::string narrowed;
  const auto& all = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const auto& suite = *all.GetTestSuite(s);
    std::string names;
    bool whole = true;
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const auto& test = *suite.GetTestInfo(t);
      const std::string path = test.file();
      const std::string file = path.substr(path.find_last_of('/') + 1);
      const std::string name = std::string(suite.name()) + "." + test.name();
      const bool contained = files.contains(file);
      if (contained) empty.erase(file);
      if (contained && matches_one(chosen, name)) {
        names += name + ":";
      } else {
        whole = false;
      }
    }
    narrowed += whole ? std::string(suite.name()) + ".*:" : names;
  }
  GTEST_FLAG_SET(filter, narrowed.empty() ? "-*" : narrowed + (minus == std::string::npos ? "" : filter.substr(minus)));
  return empty.empty() ? "" : *empty.begin();
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1) {
    const std::string empty = select_files({argv + 1, argv + argc});
    if (!empty.empty()) {
      std::fprintf(stderr, "no test of this program is in %s\n", empty.c_str());
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // An exception that ends a test on one rank leaves the others waiting for it without end: it ends the job instead,
  // and says what it is.
  if (ranks > 1) GTEST_FLAG_SET(catch_exceptions, false);
  int failed = 0;
  {
    const Kokkos::ScopeGuard kokkos(heddle::bind_device(MPI_COMM_WORLD).settings());
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    if (rank != 0) {
      // Other ranks speak only when something fails.
      class FailuresOnly : public ::testing::EmptyTestEventListener {
       public:
        explicit FailuresOnly(int rank) : rank_(rank) {}
        void OnTestPartResult(const ::testing::TestPartResult& result) override {
          if (result.failed()) {
            std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, result.file_name(), result.line_number(),
                         result.message());
          }
        }

       private:
        int rank_;
      };
      delete listeners.Release(listeners.default_result_printer());
      listeners.Append(new FailuresOnly(rank));
    }
    failed = RUN_ALL_TESTS();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return failed;
}
