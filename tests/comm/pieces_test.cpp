// Data beyond MPI's int counts travel in pieces: so do small data whose pieces are smaller still.
#include "comm/transports/mpi_pieces.hpp"
#include "support/matrices.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

namespace heddle::impl::pieces_test {
namespace {

// Bytes in a message at most: one, not a divisor of anything, a few numbers, all at once.
constexpr std::size_t longest[] = {1, 7, 24, 4096, most_message_bytes};
constexpr std::size_t lengths[] = {0, 1, 6, 7, 8, 50, 1000};

std::vector<char> numbered(std::size_t size, int seed) {
  std::vector<char> bytes(size);
  for (std::size_t k = 0; k < size; ++k) {
    bytes[k] = static_cast<char>(100 * test::random_number(static_cast<Index>(k), 0, seed));
  }
  return bytes;
}

TEST(Pieces, Broadcast) {
  const Communicator comm = test::world();
  for (const std::size_t most : longest) {
    for (const std::size_t size : lengths) {
      for (int root = 0; root < comm.size(); ++root) {
        // One byte more than travels.
        std::vector<char> data = numbered(size + 1, comm.rank());
        const char last = data.back();
        broadcast_in_pieces(data.data(), size, root, comm.native(), most);
        std::vector<char> expected = numbered(size + 1, root);
        expected.back() = last;
        EXPECT_EQ(data, expected) << most;
      }
    }
  }
}

TEST(Pieces, AllGather) {
  const Communicator comm = test::world();
  for (const std::size_t most : longest) {
    for (const std::size_t size : lengths) {
      std::vector<char> all(size * static_cast<std::size_t>(comm.size()) + 1, 'x');
      const std::vector<char> mine = numbered(size, comm.rank());
      all_gather_in_pieces(mine.data(), size, all.data(), comm.native(), most);
      std::vector<char> expected;
      for (int r = 0; r < comm.size(); ++r) {
        const std::vector<char> theirs = numbered(size, r);
        expected.insert(expected.end(), theirs.begin(), theirs.end());
      }
      expected.push_back('x');
      EXPECT_EQ(all, expected) << most;
    }
  }
}

template <class T> class PiecesOf : public ::testing::Test {};
using Types = ::testing::Types<double, float, int, Index>;
TYPED_TEST_SUITE(PiecesOf, Types);

TYPED_TEST(PiecesOf, AllReduce) {
  using T = TypeParam;
  const Communicator comm = test::world();
  const MPI_Datatype type = std::is_same_v<T, double>  ? MPI_DOUBLE
                            : std::is_same_v<T, float> ? MPI_FLOAT
                            : std::is_same_v<T, int>   ? MPI_INT
                                                       : MPI_INT64_T;
  for (const std::size_t most : longest) {
    for (const std::size_t size : lengths) {
      std::vector<T> values(size + 1);
      std::iota(values.begin(), values.end(), static_cast<T>(comm.rank()));
      all_reduce_in_pieces(std::span(values).first(size), type, MPI_SUM, comm.native(), most);
      const int ranks = comm.size();
      for (std::size_t k = 0; k < size; ++k) {
        ASSERT_EQ(values[k], static_cast<T>(ranks * static_cast<int>(k) + ranks * (ranks - 1) / 2)) << most;
      }
      EXPECT_EQ(values[size], static_cast<T>(static_cast<std::size_t>(comm.rank()) + size));
    }
  }
}

TEST(Pieces, Exchange) {
  const Communicator comm = test::world();
  const auto ranks = static_cast<std::size_t>(comm.size());
  // Another length for every pair of ranks, none among them.
  const auto size_of = [](int from, int to) { return lengths[(3 * from + to) % std::size(lengths)]; };
  const auto seed_of = [](int from, int to) { return 10 * from + to; };
  for (const std::size_t most : longest) {
    std::vector<std::vector<char>> sent(ranks);
    std::vector<std::vector<char>> received(ranks);
    std::vector<std::span<const std::byte>> out;
    std::vector<std::span<std::byte>> in;
    for (std::size_t r = 0; r < ranks; ++r) {
      const int other = static_cast<int>(r);
      sent[r] = numbered(size_of(comm.rank(), other), seed_of(comm.rank(), other));
      received[r].resize(size_of(other, comm.rank()));
      out.push_back(std::as_bytes(std::span(sent[r])));
      in.push_back(std::as_writable_bytes(std::span(received[r])));
    }
    exchange_in_pieces(out, in, 17, comm.native(), {}, most);
    for (std::size_t r = 0; r < ranks; ++r) {
      const int other = static_cast<int>(r);
      EXPECT_EQ(received[r], numbered(size_of(other, comm.rank()), seed_of(other, comm.rank()))) << most;
    }
  }
}

TEST(Pieces, RequestsOfOneMessage) {
  const Communicator comm = test::world();
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  for (const std::size_t most : longest) {
    for (const std::size_t size : lengths) {
      std::vector<char> out = numbered(size, comm.rank());
      std::vector<char> in(size);
      MpiPieces sends({.most = most});
      MpiPieces receives({.most = most});
      EXPECT_FALSE(sends.started());
      std::size_t posted = 0;
      receives.start(size, [&](std::size_t offset, int count, MPI_Request* request) {
        EXPECT_LE(static_cast<std::size_t>(count), most);
        posted += static_cast<std::size_t>(count);
        MPI_Irecv(in.data() + offset, count, MPI_BYTE, previous, 18, comm.native(), request);
      });
      EXPECT_EQ(posted, size);
      sends.start(size, [&](std::size_t offset, int count, MPI_Request* request) {
        MPI_Isend(out.data() + offset, count, MPI_BYTE, next, 18, comm.native(), request);
      });
      while (!receives.test() || !sends.test()) {
      }
      EXPECT_EQ(in, numbered(size, previous)) << most;
    }
  }
}

TEST(Pieces, FewOfOneMessageAreUnderWayAtOnce) {
  const Communicator comm = test::world();
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  for (const std::size_t least : {1, 2, 3}) {
    const std::vector<char> out = numbered(1000, comm.rank());
    std::vector<char> in(1000);
    MpiPieces sends({.most = 24, .least = least});
    MpiPieces receives({.most = 24, .least = least});
    std::size_t begun = 0;
    const auto receive = [&](std::size_t offset, int count, MPI_Request* request) {
      EXPECT_EQ(offset, 24 * begun++);
      MPI_Irecv(in.data() + offset, count, MPI_BYTE, previous, 19, comm.native(), request);
    };
    const auto send = [&](std::size_t offset, int count, MPI_Request* request) {
      MPI_Isend(out.data() + offset, count, MPI_BYTE, next, 19, comm.native(), request);
    };
    receives.start(in.size(), receive);
    EXPECT_EQ(begun, least);
    // Nothing is over, so nothing more may begin.
    receives.go_on(receive);
    EXPECT_EQ(begun, least);
    EXPECT_FALSE(receives.all_posted());
    sends.start(out.size(), send);
    for (bool received = false, sent = false; !received || !sent;) {
      received = receives.test();
      receives.go_on(receive);
      sent = sends.test();
      sends.go_on(send);
    }
    EXPECT_TRUE(receives.all_posted());
    EXPECT_EQ(begun, 42U);
    EXPECT_EQ(in, numbered(1000, previous)) << least;
  }
}

TEST(Pieces, MoreAreUnderWayOnALinkThatIsFast) {
  const Communicator comm = test::world();
  std::vector<char> data(1000);
  // Arrived pieces let as many follow as come in the time ahead: all, if it is an hour.
  MpiPieces pieces({.most = 24, .least = 2, .ahead = 3600.0});
  std::size_t begun = 0;
  const auto receive = [&](std::size_t offset, int count, MPI_Request* request) {
    ++begun;
    MPI_Irecv(data.data() + offset, count, MPI_BYTE, comm.rank(), 20, comm.native(), request);
  };
  pieces.start(data.size(), receive);
  EXPECT_EQ(begun, 2U);
  const auto send = [&](std::size_t size) {
    MPI_Send(data.data(), static_cast<int>(size), MPI_BYTE, comm.rank(), 20, comm.native());
  };
  send(24);
  while (begun == 2) {
    EXPECT_FALSE(pieces.test());
    pieces.go_on(receive);
  }
  EXPECT_EQ(begun, 42U);
  for (std::size_t k = 1; k < 41; ++k) send(24);
  send(1000 - 41 * 24);
  while (!pieces.test()) {
  }
}

}  // namespace
}  // namespace heddle::impl::pieces_test
