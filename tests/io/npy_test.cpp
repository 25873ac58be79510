// NumPy's files: every type, order and version that NumPy writes, bytes as the format's description has them.
#include "io/temporary_folder.hpp"
#include <heddle/io/matrix_file.hpp>
#include <heddle/io/npy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace heddle::npy_test {
namespace {

constexpr char here = std::endian::native == std::endian::little ? '<' : '>';
constexpr char there = here == '<' ? '>' : '<';

// A file's first bytes, by the version of its format.
std::string head(int version, std::string dictionary) {
  const std::size_t begin = version == 1 ? 10 : 12;
  while ((begin + dictionary.size()) % 16 != 15) dictionary += ' ';
  dictionary += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (std::size_t k = 0; k < begin - 8; ++k) bytes += static_cast<char>(dictionary.size() >> (8 * k) & 255U);
  return bytes + dictionary;
}

std::string dictionary(char order, const std::string& type, bool by_columns, const std::string& shape) {
  return "{'descr': '" + (order + type) + "', 'fortran_order': " + (by_columns ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

// Numbers one after the other; swapped: in the other byte order.
template <class Number> std::string bytes_of(const std::vector<Number>& numbers, bool swapped = false) {
  std::string bytes;
  for (const Number& number : numbers) {
    std::string one(sizeof(Number), '\0');
    std::memcpy(one.data(), &number, sizeof(Number));
    if (swapped) std::reverse(one.begin(), one.end());
    bytes += one;
  }
  return bytes;
}

class Npy : public ::testing::Test {
 protected:
  template <Scalar T = double> void expect(const std::string& bytes, const std::vector<std::vector<T>>& rows) {
    const auto path = folder_.write("array.npy", bytes);
    const MatrixFileInfo info = matrix_file_info(comm_, path);
    EXPECT_EQ(info.rows, static_cast<Index>(rows.size()));
    EXPECT_EQ(info.columns, static_cast<Index>(rows.front().size()));
    for (const auto& place : test::placements(comm_.size())) {
      const auto whole = gather(read_matrix<T>(comm_, path, place), 0);
      if (comm_.rank() != 0) continue;
      ASSERT_EQ(whole.extent(0), rows.size());
      ASSERT_EQ(whole.extent(1), rows.front().size());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < rows.front().size(); ++j) EXPECT_EQ(whole(i, j), rows[i][j]) << i << ", " << j;
      }
    }
  }
  template <Scalar T = double> void refuse(const std::string& bytes, const std::string& message) {
    const auto path = folder_.write("bad.npy", bytes);
    const Error error = test::error_of([&] { static_cast<void>(read_npy<T>(comm_, path)); });
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(std::string(error.what()).find(path.string() + ": " + message), 0U) << error.what();
  }

  Communicator comm_{MPI_COMM_WORLD};
  test::TemporaryFolder folder_{comm_};
};

TEST_F(Npy, TakesBothOrdersOfElementsAndOfBytesInAllVersions) {
  const std::vector<std::vector<double>> rows = {{1, 2.5, -3}, {4, 5e-300, 6}};
  for (const int version : {1, 2, 3}) {
    for (const bool swapped : {false, true}) {
      const char order = swapped ? there : here;
      expect(head(version, dictionary(order, "f8", false, "(2, 3)")) +
                 bytes_of<double>({1, 2.5, -3, 4, 5e-300, 6}, swapped),
             rows);
      expect(head(version, dictionary(order, "f8", true, "(2, 3)")) +
                 bytes_of<double>({1, 4, 2.5, 5e-300, -3, 6}, swapped),
             rows);
    }
  }
  expect(head(1, "{ \"shape\" :(2L,1L),\"fortran_order\":False , 'descr':'=f8'}") + bytes_of<double>({7, 8}),
         {{7}, {8}});
}

TEST_F(Npy, TakesVectorsAndSingleNumbers) {
  expect(head(1, dictionary(here, "f8", false, "(3,)")) + bytes_of<double>({1, 2, 3}), {{1}, {2}, {3}});
  expect(head(1, dictionary(here, "f8", true, "(1, 3)")) + bytes_of<double>({1, 2, 3}), {{1, 2, 3}});
  expect(head(1, dictionary(here, "f8", false, "()")) + bytes_of<double>({4}), {{4}});
  for (const char* shape : {"(0,)", "(0, 5)", "(5, 0)"}) {
    const auto path = folder_.write("none.npy", head(1, dictionary(here, "f4", false, shape)));
    const auto A = read_npy<double>(comm_, path);
    EXPECT_EQ(A.rows() * A.columns(), 0) << shape;
  }
}

TEST_F(Npy, TakesEveryTypeOfNumber) {
  const auto vector = [](char order, const char* type, const std::string& bytes, std::size_t each) {
    return head(1, dictionary(order, type, false, "(" + std::to_string(bytes.size() / each) + ",)")) + bytes;
  };
  for (const bool swapped : {false, true}) {
    const char order = swapped ? there : here;
    expect(vector(order, "f4", bytes_of<float>({0.1F, -2}, swapped), 4), {{static_cast<double>(0.1F)}, {-2}});
    expect(vector(order, "i2", bytes_of<std::int16_t>({-300, 300}, swapped), 2), {{-300}, {300}});
    expect(vector(order, "u2", bytes_of<std::uint16_t>({65535}, swapped), 2), {{65535}});
    expect(vector(order, "i4", bytes_of<std::int32_t>({-70000}, swapped), 4), {{-70000}});
    expect(vector(order, "u4", bytes_of<std::uint32_t>({4294967295U}, swapped), 4), {{4294967295.0}});
    expect(vector(order, "i8",
                  bytes_of<std::int64_t>({-(1LL << 53), std::numeric_limits<std::int64_t>::min()}, swapped), 8),
           {{-0x1p53}, {-0x1p63}});
    expect(vector(order, "u8", bytes_of<std::uint64_t>({1ULL << 63U}, swapped), 8), {{0x1p63}});
    // Half precision: one, the smallest, the largest and -2.
    expect(vector(order, "f2", bytes_of<std::uint16_t>({0x3c00, 0x0001, 0x7bff, 0xc000}, swapped), 2),
           {{1}, {0x1p-24}, {65504}, {-2}});
    const auto complex = vector(order, "c16", bytes_of<double>({1, 2, 3, -4}, swapped), 16);
    expect<Kokkos::complex<double>>(complex, {{{1, 2}}, {{3, -4}}});
    expect<Kokkos::complex<float>>(vector(order, "c8", bytes_of<float>({1, 2}, swapped), 8), {{{1, 2}}});
    refuse(complex, "holds complex numbers where real ones are expected");
    refuse(vector(order, "i8", bytes_of<std::int64_t>({1, (1LL << 53) + 1}, swapped), 8),
           "element (2, 1) is an integer that no double equals");
    refuse(vector(order, "i8", bytes_of<std::int64_t>({std::numeric_limits<std::int64_t>::max()}, swapped), 8),
           "element (1, 1) is an integer that no double equals");
    refuse(vector(order, "u8", bytes_of<std::uint64_t>({std::numeric_limits<std::uint64_t>::max()}, swapped), 8),
           "element (1, 1) is an integer that no double equals");
    const auto path =
        folder_.write("wide.npy", vector(order, "u8", bytes_of<std::uint64_t>({(1ULL << 63U) + 1, 5}, swapped), 8));
    const auto terms = read_matrix_terms<double>(comm_, path);
    ASSERT_EQ(terms.size(), 2U);
    const auto first = gather(terms[0], 0);
    const auto second = gather(terms[1], 0);
    if (comm_.rank() == 0) {
      EXPECT_EQ(first(0, 0), 0x1p63);
      EXPECT_EQ(second(0, 0), 1);
      EXPECT_EQ(second(1, 0), 0);
    }
    const auto narrow =
        folder_.write("float.npy", vector(order, "i4", bytes_of<std::int32_t>({(1 << 24) + 1}, swapped), 4));
    const Error error = test::error_of([&] { static_cast<void>(read_npy<float>(comm_, narrow)); });
    EXPECT_EQ(std::string(error.what()), narrow.string() + ": element (1, 1) is an integer that no float equals");
    EXPECT_EQ(read_matrix_terms<float>(comm_, narrow).size(), 2U);
    comm_.barrier();
  }
  expect(vector('|', "i1", bytes_of<std::int8_t>({-128, 127}), 1), {{-128}, {127}});
  expect(vector('|', "u1", bytes_of<std::uint8_t>({255}), 1), {{255}});
  expect(vector('|', "b1", bytes_of<std::uint8_t>({1, 0}), 1), {{1}, {0}});
  expect<Kokkos::complex<double>>(vector(here, "f8", bytes_of<double>({5}), 8), {{{5, 0}}});
}

TEST_F(Npy, RefusesWhatIsNoMatrix) {
  const std::string good = dictionary(here, "f8", false, "(2, 1)");
  const std::string data = bytes_of<double>({1, 2});
  refuse("", "is no file of NumPy's");
  refuse("\x93NUMPZ\x01", "is no file of NumPy's");
  refuse(std::string("\x93NUMPY\x04\x00", 8), "has format version 4.0");
  refuse(std::string("\x93NUMPY\x01\x01", 8), "has format version 1.1");
  refuse(std::string("\x93NUMPY\x01\x00\x50", 9), "ends within its header");
  refuse(std::string("\x93NUMPY\x01\x00\xff\xff{", 11), "ends within its header");
  refuse(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13), "ends within its header, or has one");
  refuse(head(1, good) + data.substr(1), "has 15 bytes of elements, where a 2 x 1 array of '");
  refuse(head(1, good) + data + " ", "has 17 bytes of elements");
  refuse(head(1, dictionary(here, "f8", false, "(2, 1, 1)")) + data, "has 3 dimensions");
  refuse(head(1, dictionary(here, "f8", false, "(4000000000, 4000000000)")), "has 4000000000 x 4000000000 elements");
  refuse(head(1, dictionary(here, "f8", false, "(90000000, 90000000)")) + data, "has 16 bytes of elements");
  refuse(head(1, dictionary(here, "f8", false, "(99999999999999999999,)")), "its header is malformed: an extent");
  refuse(head(1, dictionary(here, "f8", false, "(-2,)")), "its header is malformed: expected an extent");
  refuse(head(1, dictionary(here, "f8", false, "2")), "its header is malformed: expected '('");
  for (const char* type : {"O", "f16", "c32", "S8", "U4", "M8[s]", "V8", "f", ""}) {
    refuse(head(1, dictionary('|', type, false, "(2,)")), "holds elements of type '|");
  }
  refuse(head(1, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }"),
         "its header is malformed: expected a word in quotes");
  refuse(head(1, "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (2,), }"),
         "its header is malformed: expected True");
  refuse(head(1, "{'descr': '<f8', 'shape': (2,), }"), "its header is malformed: expected 'descr', 'fortran_order'");
  refuse(head(1, "{'descr': '<f8', 'descr': '<f8', 'fortran_order': True, 'shape': (2,)}"), "its header is malformed");
  refuse(head(1, "{'descr': '<f8', 'order': 1}"), "its header is malformed: expected 'descr', 'fortran_order' and");
  refuse(head(1, good + " x"), "its header is malformed: expected the end of it");
  refuse(head(1, ""), "its header is malformed: expected '{'");
}

template <Scalar T> struct Element {
  KOKKOS_INLINE_FUNCTION T operator()(Index row, Index column) const {
    const auto value = static_cast<Real<T>>(static_cast<double>(10 * row + column) / 3);
    if constexpr (is_complex<T>) {
      return T(value, -value);
    } else {
      return value;
    }
  }
};

template <Scalar T> void round_trip(const Communicator& comm, const std::filesystem::path& path) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{7, 5}, {1, 4}, {6, 1}, {0, 3}, {1, 1}}) {
    for (const auto& place : test::placements(comm.size())) {
      const DistributedMatrix<T> A(comm, place(rows, columns));
      fill(A, Element<T>{});
      write_matrix(path, A);
      const auto back = gather(read_matrix<T>(comm, path, place), 0);
      const auto whole = gather(A, 0);
      if (comm.rank() != 0) continue;
      ASSERT_EQ(back.extent(0), whole.extent(0));
      ASSERT_EQ(back.extent(1), whole.extent(1));
      for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < columns; ++j) EXPECT_EQ(back(i, j), whole(i, j));
      }
    }
  }
}

TEST_F(Npy, WritesWhatItReads) {
  round_trip<float>(comm_, folder_ / "float.npy");
  round_trip<double>(comm_, folder_ / "double.npy");
  round_trip<Kokkos::complex<float>>(comm_, folder_ / "complex-float.npy");
  round_trip<Kokkos::complex<double>>(comm_, folder_ / "complex-double.npy");
}

TEST_F(Npy, WritesTheFormatAsItIsDescribed) {
  const DistributedMatrix<double> A(comm_, Placement::row_bands(3, 1, comm_.size()));
  fill(A, Element<double>{});
  write_matrix(folder_ / "vector.npy", A, {.vector = true});
  const DistributedMatrix<float> B(comm_, Placement::row_bands(2, 3, comm_.size()));
  fill(B, Element<float>{});
  write_matrix(folder_ / "matrix.npy", B);
  const Error refused = test::error_of([&] { write_matrix(folder_ / "wide.npy", B, {.vector = true}); });
  EXPECT_EQ(refused.kind(), ErrorKind::argument);
  if (comm_.rank() != 0) return;
  const auto text = [&](const char* name) {
    std::ifstream file(folder_ / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string vector = text("vector.npy");
  EXPECT_EQ(vector.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_NE(vector.find(std::string("{'descr': '") + here + "f8', 'fortran_order': True, 'shape': (3,), }"),
            std::string::npos);
  EXPECT_EQ((vector.size() - 3 * sizeof(double)) % 64, 0U);
  EXPECT_EQ(vector[vector.size() - 3 * sizeof(double) - 1], '\n');
  const std::string matrix = text("matrix.npy");
  EXPECT_NE(matrix.find("'shape': (2, 3), }"), std::string::npos);
  EXPECT_EQ(matrix.substr(matrix.size() - 6 * sizeof(float)),
            bytes_of<float>({0, 10.0F / 3, 1.0F / 3, 11.0F / 3, 2.0F / 3, 4}));
}

}  // namespace
}  // namespace heddle::npy_test
