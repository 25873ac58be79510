// Tests of Communicator.
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include "support/on_host.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/comm/device.hpp>
#include <heddle/core/host_memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace heddle::communicator_test {
namespace {

TEST(Communicator, IsADuplicate) {
  const Communicator comm = test::world();
  int relation = MPI_UNEQUAL;
  MPI_Comm_compare(comm.native(), MPI_COMM_WORLD, &relation);
  EXPECT_EQ(relation, MPI_CONGRUENT);
  const Communicator copy = comm;  // NOLINT(performance-unnecessary-copy-initialization): what is tested
  EXPECT_EQ(copy.native(), comm.native());
}

TEST(Communicator, NumbersItsNodes) {
  const Communicator comm = test::world();
  const std::vector<int>& nodes = comm.nodes_of_ranks();
  ASSERT_EQ(nodes.size(), static_cast<std::size_t>(comm.size()));
  int next = 0;
  int here = 0;
  int below = 0;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const int node = comm.node_of(rank);
    EXPECT_EQ(nodes[static_cast<std::size_t>(rank)], node);
    EXPECT_LE(node, next) << "nodes are numbered by their lowest ranks";
    next = std::max(next, node + 1);
    const bool same = node == comm.node_of(comm.rank());
    here += same ? 1 : 0;
    below += same && rank < comm.rank() ? 1 : 0;
  }
  EXPECT_EQ(comm.nodes(), next);
  EXPECT_EQ(comm.node_size(), here);
  EXPECT_EQ(comm.node_rank(), below);
  for (const int rank : {-1, comm.size()}) {
    test::expect_refusal(ErrorKind::argument, "node_of: rank", [&] { static_cast<void>(comm.node_of(rank)); });
  }
}

// HEDDLE_NODE_SIZE as a test has it, and then as it was.
class NodeSize {
 public:
  explicit NodeSize(const std::string& value) {
    if (const char* old = std::getenv("HEDDLE_NODE_SIZE"); old != nullptr) old_ = old;
    setenv("HEDDLE_NODE_SIZE", value.c_str(), 1);
  }
  NodeSize(const NodeSize&) = delete;
  NodeSize& operator=(const NodeSize&) = delete;
  ~NodeSize() {
    if (old_) {
      setenv("HEDDLE_NODE_SIZE", old_->c_str(), 1);
    } else {
      unsetenv("HEDDLE_NODE_SIZE");
    }
  }

 private:
  std::optional<std::string> old_;
};

TEST(Communicator, TakesSoManyRanksForANode) {
  for (const int size : {1, 2, 3, 1000}) {
    const NodeSize variable(std::to_string(size));
    const Communicator comm = test::world();
    EXPECT_EQ(comm.nodes(), (comm.size() + size - 1) / size);
    for (int rank = 0; rank < comm.size(); ++rank) EXPECT_EQ(comm.node_of(rank), rank / size);
    EXPECT_EQ(comm.node_rank(), comm.rank() % size);
  }
}

TEST(Communicator, RefusesNodesOfNoRanks) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const std::string value : {"0", "-1", "two", "", "1e3", "2 "}) {
    const NodeSize variable(value);
    test::expect_refusal(ErrorKind::argument, "HEDDLE_NODE_SIZE: expected the number of ranks",
                         [&] { static_cast<void>(test::world()); });
  }
  if (size > 1) {
    const NodeSize variable(rank == 0 ? "1" : "2");
    test::expect_refusal(ErrorKind::argument, "the same on all ranks", [&] { static_cast<void>(test::world()); });
  }
}

TEST(Communicator, RefusesNull) {
  test::expect_refusal(ErrorKind::argument, "Communicator: the communicator is MPI_COMM_NULL",
                       [&] { Communicator(MPI_COMM_NULL); });
}

TEST(Communicator, Collectives) {
  const Communicator comm = test::world();
  const int last = comm.size() - 1;
  std::vector<int> values = {comm.rank(), comm.rank() + 10};
  comm.broadcast(std::span<int>(values), last);
  EXPECT_EQ(values, (std::vector<int>{last, last + 10}));
  std::string text = comm.rank() == last ? "from the last" : "";
  comm.broadcast(text, last);
  EXPECT_EQ(text, "from the last");
  EXPECT_EQ(comm.all_reduce(Index{1} << 40, Reduction::sum), (Index{1} << 40) * comm.size());
  EXPECT_EQ(comm.all_reduce(comm.rank(), Reduction::maximum), last);
  EXPECT_EQ(comm.all_reduce(1.5 + comm.rank(), Reduction::minimum), 1.5);
  const float mine = static_cast<float>(comm.rank());
  std::vector<float> all(static_cast<std::size_t>(comm.size()));
  comm.all_gather(std::span<const float>(&mine, 1), std::span<float>(all));
  std::vector<float> expected(all.size());
  std::iota(expected.begin(), expected.end(), 0.0F);
  EXPECT_EQ(all, expected);
  test::expect_refusal(ErrorKind::argument, "broadcast: root",
                       [&] { comm.broadcast(std::span<int>(values), comm.size()); });
}

TEST(Communicator, SumsAreTheSameBitsOnEveryRank) {
  const Communicator comm = test::world();
  std::vector<double> values(1000);
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = test::random_number(static_cast<Index>(k), comm.rank(), 1);
  }
  comm.all_reduce(std::span<double>(values), Reduction::sum);
  std::vector<double> all(values.size() * static_cast<std::size_t>(comm.size()));
  comm.all_gather(std::span<const double>(values), std::span<double>(all));
  for (std::size_t k = 0; k < all.size(); ++k) {
    ASSERT_EQ(all[k], values[k % values.size()]);
  }
}

TEST(Communicator, AnErrorOfOneRankIsEveryRanks) {
  const Communicator comm = test::world();
  for (int root = 0; root < comm.size(); ++root) {
    int ran = 0;
    comm.on_rank(root, [&] { ran = 1; });
    EXPECT_EQ(ran, comm.rank() == root ? 1 : 0);
    try {
      comm.on_rank(root, [] { throw Error(ErrorKind::input, "line 7"); });
      FAIL() << "nothing thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_STREQ(error.what(), "line 7");
    }
    test::expect_refusal(ErrorKind::memory, "std::bad_alloc",
                         [&] { comm.on_rank(root, [] { throw std::bad_alloc(); }); });
  }
}

TEST(Communicator, PlacesThatOneRankLacksAreEveryRanksError) {
  const Communicator comm = test::world();
  const bool is_last = comm.rank() == comm.size() - 1;
  const std::vector<int> mine(2);
  std::vector<int> all(static_cast<std::size_t>(2 * comm.size()) + (is_last ? 1 : 0));
  test::expect_refusal(ErrorKind::argument,
                       "all_gather: ", [&] { comm.all_gather(std::span<const int>(mine), std::span<int>(all)); });
  const std::vector<std::vector<int>> to(static_cast<std::size_t>(comm.size() + (is_last ? 1 : 0)));
  test::expect_refusal(ErrorKind::argument, "exchange: messages to ", [&] { static_cast<void>(comm.exchange(to)); });
  EXPECT_EQ(comm.all_reduce(1, Reduction::sum), comm.size()) << "the communicator can be used again";
}

// Sets a variable of the environment, or removes it where `value` is null; the destructor restores what was there.
class Variable {
 public:
  explicit Variable(const char* name) : name_(name) {
    if (const char* const value = std::getenv(name)) before_ = value;
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  void set(const char* value) const { value == nullptr ? unsetenv(name_) : setenv(name_, value, 1); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(Device, SaysHowMuchMemoryIsAvailable) {
  EXPECT_GT(available_memory(), 0x1p20);
  if (test::on_host) {
    EXPECT_LE(available_memory(), host_memory());
  }
}

TEST(Device, IsThatOfCTestsResourceGroup) {
  const int devices = Kokkos::num_devices();
  if (devices < 1) {
    GTEST_SKIP() << "this backend has no devices";
  }
  const Variable ours("HEDDLE_DEVICE");
  const Variable count("CTEST_RESOURCE_GROUP_COUNT");
  const Variable first("CTEST_RESOURCE_GROUP_0_GPUS");
  ours.set(nullptr);
  count.set("1");
  for (const int wanted : {0, devices - 1}) {
    first.set(("id:" + std::to_string(wanted) + ",slots:2").c_str());
    EXPECT_EQ(bind_device(MPI_COMM_SELF).device, wanted);
    ours.set("0");
    EXPECT_EQ(bind_device(MPI_COMM_SELF).device, 0) << "HEDDLE_DEVICE comes first";
    ours.set(nullptr);
  }
}

TEST(Device, BindingNamesNoDeviceOnCpus) {
  if (Kokkos::num_devices() > 0) {
    GTEST_SKIP() << "this backend has devices";
  }
  const Variable ours("HEDDLE_DEVICE");
  ours.set(nullptr);
  const DeviceBinding binding = bind_device(MPI_COMM_WORLD);
  EXPECT_EQ(binding.device, -1);
  EXPECT_EQ(binding.device_count, 0);
  EXPECT_FALSE(binding.shared);
  ours.set("1x");
  test::expect_refusal(ErrorKind::argument, "HEDDLE_DEVICE='1x': expected the number",
                       [&] { static_cast<void>(bind_device(MPI_COMM_WORLD)); });
}

}  // namespace
}  // namespace heddle::communicator_test
