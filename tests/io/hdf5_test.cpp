// Tests of matrices in HDF5 files.
#include "io/matrix/hdf5_handle.hpp"
#include "io/temporary_folder.hpp"
#include <heddle/io/hdf5.hpp>
#include <heddle/io/matrix_file.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace heddle::hdf5_test {
namespace {

using test::error_of;

// A functor: nvcc takes no lambdas in the private functions that GoogleTest makes.
struct TenRowsAndColumn {
  KOKKOS_FUNCTION double operator()(Index i, Index j) const { return static_cast<double>(10 * i + j); }
};

struct ComplexRecord {
  double r;
  double i;
};

class Hdf5Matrix : public ::testing::Test {
 protected:
  // A file with one dataset of these extents, made on rank 0 without Heddle.
  std::filesystem::path dataset(const std::vector<hsize_t>& extents, hid_t type, const void* data,
                                const char* name = "matrix") {
    auto path = folder_ / "given.h5";
    comm_.on_rank(0, [&] {
      const impl::Hdf5File file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
      const impl::Hdf5Space space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr));
      const impl::Hdf5Dataset set(
          H5Dcreate2(file.get(), name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      if (data != nullptr) H5Dwrite(set.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    });
    return path;
  }
  static impl::Hdf5Type complex_type(const char* real, const char* imaginary) {
    impl::Hdf5Type type(H5Tcreate(H5T_COMPOUND, sizeof(ComplexRecord)));
    H5Tinsert(type.get(), real, HOFFSET(ComplexRecord, r), H5T_NATIVE_DOUBLE);
    H5Tinsert(type.get(), imaginary, HOFFSET(ComplexRecord, i), H5T_NATIVE_DOUBLE);
    return type;
  }
  void refuse(const std::filesystem::path& path, const std::string& message, const std::string& name = "matrix") {
    const Error error = error_of([&] { static_cast<void>(read_hdf5<double>(comm_, path, {}, name)); });
    EXPECT_EQ(error.kind(), ErrorKind::input);
    const std::string text = error.what();
    EXPECT_EQ(text.substr(0, path.string().size() + message.size()), path.string() + message) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
    comm_.barrier();
  }

  Communicator comm_{MPI_COMM_WORLD};
  test::TemporaryFolder folder_{comm_};
};

TEST_F(Hdf5Matrix, RowsOfTheDatasetAreRowsOfTheMatrix) {
  const std::array<double, 6> data = {1, 2, 3, 4, 5, 6};
  const auto path = dataset({2, 3}, H5T_NATIVE_DOUBLE, data.data());
  for (const auto& place : test::placements(comm_.size())) {
    const auto whole = gather(read_hdf5<double>(comm_, path, place), 0);
    if (comm_.rank() != 0) continue;
    ASSERT_EQ(whole.extent(0), 2U);
    ASSERT_EQ(whole.extent(1), 3U);
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(whole(i, j), data[3 * i + j]);
    }
  }
}

TEST_F(Hdf5Matrix, ComplexNumbersAsOthersNameTheirParts) {
  const std::array<ComplexRecord, 2> data = {{{1, -2}, {3, 4}}};
  for (const auto& [real, imaginary] : {std::pair("r", "i"), std::pair("real", "imag"), std::pair("re", "im")}) {
    const auto type = complex_type(real, imaginary);
    const auto path = dataset({2, 1}, type.get(), data.data());
    EXPECT_TRUE(hdf5_info(comm_, path).complex) << real;
    const auto whole = gather(read_hdf5<Kokkos::complex<double>>(comm_, path), 0);
    const auto narrow = gather(read_hdf5<Kokkos::complex<float>>(comm_, path), 0);
    if (comm_.rank() == 0) {
      EXPECT_EQ(whole(0, 0), Kokkos::complex<double>(1, -2)) << real;
      EXPECT_EQ(whole(1, 0), Kokkos::complex<double>(3, 4)) << real;
      EXPECT_EQ(narrow(0, 0), Kokkos::complex<float>(1, -2)) << real;
    }
    refuse(path, ": holds complex numbers where real ones are expected");
  }
  refuse(dataset({2, 1}, complex_type("real", "i").get(), data.data()),
         ", dataset 'matrix': holds neither real numbers");
}

TEST_F(Hdf5Matrix, TruthValuesAreZerosAndOnes) {
  const auto truth = [](hid_t base, const char* no, const char* yes) {
    impl::Hdf5Type type(H5Tenum_create(base));
    std::array<unsigned char, 8> value{};
    H5Tenum_insert(type.get(), no, value.data());
    value[H5Tget_order(base) == H5T_ORDER_BE ? H5Tget_size(base) - 1 : 0] = 1;
    H5Tenum_insert(type.get(), yes, value.data());
    return type;
  };
  const std::array<signed char, 3> bytes = {1, 0, 1};
  const auto expect = [&](const std::filesystem::path& path) {
    for (const auto& place : test::placements(comm_.size())) {
      const auto whole = gather(read_hdf5<float>(comm_, path, place), 0);
      if (comm_.rank() != 0) continue;
      for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(whole(0, k), bytes[k]);
    }
  };
  expect(dataset({1, 3}, truth(H5T_STD_I8LE, "FALSE", "TRUE").get(), bytes.data()));
  const std::array<unsigned char, 6> large = {0, 1, 0, 0, 0, 1};
  expect(dataset({1, 3}, truth(H5T_STD_I16BE, "FALSE", "TRUE").get(), large.data()));
  refuse(dataset({1, 3}, truth(H5T_STD_I8LE, "RED", "GREEN").get(), bytes.data()), ", dataset 'matrix': holds neither");
  refuse(dataset({1, 3}, truth(H5T_STD_I8LE, "TRUE", "FALSE").get(), bytes.data()),
         ", dataset 'matrix': holds neither");
}

TEST_F(Hdf5Matrix, IntegersAreNotRounded) {
  const std::array<std::int64_t, 3> data = {(1LL << 53) + 1, -(1LL << 62), std::numeric_limits<std::int64_t>::min()};
  const auto path = dataset({3, 1}, H5T_NATIVE_INT64, data.data());
  refuse(path, ", dataset 'matrix': element (1, 1) is 9007199254740993, an integer that no double equals");
  for (const auto& place : test::placements(comm_.size())) {
    const auto terms = read_matrix_terms<double>(comm_, path, place);
    ASSERT_EQ(terms.size(), 2U);
    const auto first = gather(terms[0], 0);
    const auto second = gather(terms[1], 0);
    if (comm_.rank() != 0) continue;
    EXPECT_EQ(first(0, 0), 0x1p53);
    EXPECT_EQ(second(0, 0), 1);
    EXPECT_EQ(first(1, 0), -0x1p62);
    EXPECT_EQ(first(2, 0), -0x1p63);
    EXPECT_EQ(second(2, 0), 0);
  }
  const std::array<std::uint64_t, 2> large = {std::numeric_limits<std::uint64_t>::max(), 1};
  const auto natural = dataset({2}, H5T_NATIVE_UINT64, large.data());
  refuse(natural, ", dataset 'matrix': element (1, 1) is 18446744073709551615, an integer that no double equals");
  EXPECT_EQ(read_matrix_terms<double>(comm_, natural).size(), 2U);
  const std::array<std::int32_t, 2> narrow = {(1 << 24) + 1, 3};
  const auto of_32_bits = dataset({1, 2}, H5T_NATIVE_INT32, narrow.data());
  EXPECT_EQ(read_hdf5<double>(comm_, of_32_bits).rows(), 1);
  const Error error = error_of([&] { static_cast<void>(read_hdf5<float>(comm_, of_32_bits)); });
  EXPECT_NE(std::string(error.what()).find("is 16777217, an integer that no float equals"), std::string::npos);
  EXPECT_EQ((read_matrix_terms<Kokkos::complex<float>>(comm_, of_32_bits).size()), 2U);
}

TEST_F(Hdf5Matrix, ConvertsIntegersAndRealsToT) {
  const std::array<int, 2> data = {-3, 7};
  const auto path = dataset({1, 2}, H5T_NATIVE_INT, data.data());
  const auto real = gather(read_hdf5<float>(comm_, path), 0);
  const auto complex = gather(read_hdf5<Kokkos::complex<double>>(comm_, path), 0);
  if (comm_.rank() == 0) {
    EXPECT_EQ(real(0, 0), -3.0F);
    EXPECT_EQ(complex(0, 1), Kokkos::complex<double>(7, 0));
  }
}

TEST_F(Hdf5Matrix, ComplexIsACompoundOfTwoReals) {
  const std::array<ComplexRecord, 2> data = {{{1, 2}, {3, -4}}};
  const auto type = complex_type("r", "i");
  const auto path = dataset({2, 1}, type.get(), data.data());
  EXPECT_TRUE(hdf5_info(comm_, path).complex);
  const auto whole = gather(read_hdf5<Kokkos::complex<float>>(comm_, path), 0);
  if (comm_.rank() == 0) {
    EXPECT_EQ(whole(0, 0), Kokkos::complex<float>(1, 2));
    EXPECT_EQ(whole(1, 0), Kokkos::complex<float>(3, -4));
  }
  refuse(path, ": holds complex numbers where real ones are expected");
}

TEST_F(Hdf5Matrix, WritesWhatOthersCanRead) {
  const DistributedMatrix<double> A(comm_, Placement::column_bands(2, 3, comm_.size()));
  fill(A, TenRowsAndColumn{});
  write_hdf5(folder_ / "written.h5", A, {.dataset = "results/matrix"});
  if (comm_.rank() == 0) {
    const impl::Hdf5File file(H5Fopen((folder_ / "written.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    const impl::Hdf5Dataset set(H5Dopen2(file.get(), "/results/matrix", H5P_DEFAULT));
    std::array<double, 6> data{};
    ASSERT_GE(H5Dread(set.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()), 0);
    EXPECT_EQ(data, (std::array<double, 6>{0, 1, 2, 10, 11, 12}));
    EXPECT_EQ(folder_.files(), 1);
  }
}

TEST_F(Hdf5Matrix, TakesAVectorAsOneColumn) {
  const std::array<double, 5> data = {1, 2, 3, 4, 5};
  const auto path = dataset({5}, H5T_NATIVE_DOUBLE, data.data());
  const auto A = gather(read_hdf5<float>(comm_, path), 0);
  if (comm_.rank() != 0) return;
  ASSERT_EQ(A.extent(0), 5U);
  ASSERT_EQ(A.extent(1), 1U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(A(i, 0), static_cast<float>(data[i]));
}

std::string attribute_of(const std::filesystem::path& path, const char* object, const char* name) {
  const impl::Hdf5File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  const impl::Hdf5Type type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  const impl::Hdf5Handle<H5Aclose> attribute(H5Aopen_by_name(file.get(), object, name, H5P_DEFAULT, H5P_DEFAULT));
  char* text = nullptr;
  if (!attribute || H5Aread(attribute.get(), type.get(), &text) < 0) return "(none)";
  std::string value(text);
  H5free_memory(text);
  return value;
}

TEST_F(Hdf5Matrix, ADatasetIsNamedInThePath) {
  const DistributedMatrix<double> A(comm_, Placement::column_bands(2, 3, comm_.size()));
  fill(A, TenRowsAndColumn{});
  const DistributedMatrix<double> one(comm_, Placement::column_bands(2, 3, comm_.size()));
  fill(one, 1.0);
  const std::string file = (folder_ / "several.h5").string();
  write_matrix(file + ":/group/a", one, {.attributes = {{"host", "first"}}});
  write_matrix(file + ":b", A, {.attributes = {{"host", "second"}}});
  write_matrix(file + ":/group/a", A);
  for (const char* name : {":/group/a", ":group/a", ":/b", ":b"}) {
    EXPECT_EQ(matrix_file_info(comm_, file + name).columns, 3);
    const auto whole = gather(read_matrix<double>(comm_, file + name), 0);
    if (comm_.rank() == 0) {
      EXPECT_EQ(whole(1, 2), 12.0) << name;
    }
  }
  if (comm_.rank() == 0) {
    EXPECT_EQ(folder_.files(), 1);
    EXPECT_EQ(attribute_of(file, "/", "host"), "second");
    EXPECT_EQ(attribute_of(file, "/b", "host"), "second");
    EXPECT_EQ(attribute_of(file, "/group/a", "host"), "(none)");
  }
  comm_.barrier();
  const auto expect = [&](const std::string& path, ErrorKind kind, const std::string& message) {
    const Error error = error_of([&] { write_matrix(path, A); });
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  };
  expect(file + ":", ErrorKind::argument, "expected the name of a dataset");
  expect(file + ":/", ErrorKind::argument, "expected the name of a dataset");
  expect(file + ":/group", ErrorKind::output, "'/group' is no dataset");
  expect(file + ":b/c", ErrorKind::output, "can't be written");
  expect(folder_.write("text.h5", "no HDF5\n").string() + ":a", ErrorKind::output, "text.h5: can't be written");
  // A refused call leaves all as it was.
  const auto whole = gather(read_matrix<double>(comm_, file + ":b"), 0);
  if (comm_.rank() == 0) {
    EXPECT_EQ(whole(1, 2), 12.0);
  }
  // Without a name in the path the file is a new one.
  write_matrix(file, A);
  const Error gone = error_of([&] { static_cast<void>(matrix_file_info(comm_, file + ":b")); });
  EXPECT_EQ(gone.kind(), ErrorKind::input);
}

TEST_F(Hdf5Matrix, RefusesWhatIsNoMatrix) {
  const std::array<double, 8> data{};
  refuse(dataset({2, 2, 2}, H5T_NATIVE_DOUBLE, data.data()), ", dataset 'matrix': has 3 dimensions");
  const auto wrong = complex_type("real", "imaginary");
  refuse(dataset({1, 1}, wrong.get(), nullptr), ", dataset 'matrix': holds neither real numbers nor complex ones");
  const impl::Hdf5Type text(H5Tcopy(H5T_C_S1));
  refuse(dataset({1, 1}, text.get(), nullptr), ", dataset 'matrix': holds neither real numbers nor complex ones");
  refuse(dataset({1, 1}, H5T_NATIVE_DOUBLE, data.data(), "other"), ", dataset 'matrix': can't be opened: ");
  refuse(dataset({1, 1}, H5T_NATIVE_DOUBLE, data.data()), ", dataset 'a/b': can't be opened: ", "a/b");
}

// The file holds none of the chunks of a dataset that were never written.
TEST_F(Hdf5Matrix, RefusesMoreElementsThanThereCanBe) {
  const auto path = folder_ / "sparse.h5";
  const auto make = [&](hsize_t rows, hsize_t columns) {
    comm_.on_rank(0, [&] {
      const impl::Hdf5File file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
      const std::array<hsize_t, 2> extents = {rows, columns};
      const std::array<hsize_t, 2> chunk = {4, 1};
      const impl::Hdf5Properties pieces(H5Pcreate(H5P_DATASET_CREATE));
      H5Pset_chunk(pieces.get(), 2, chunk.data());
      const impl::Hdf5Space space(H5Screate_simple(2, extents.data(), nullptr));
      const impl::Hdf5Dataset set(
          H5Dcreate2(file.get(), "matrix", H5T_NATIVE_FLOAT, space.get(), H5P_DEFAULT, pieces.get(), H5P_DEFAULT));
      ASSERT_TRUE(set);
    });
  };
  const std::string begin = ", dataset 'matrix': has ";
  make(std::numeric_limits<Index>::max(), 1);
  refuse(path, begin + "9223372036854775807 x 1 elements, too many for a matrix");
  make(hsize_t{1} << 40, hsize_t{1} << 30);
  refuse(path, begin + "1099511627776 x 1073741824 elements, too many for a matrix");
  make(90'000'000, 90'000'000);
  refuse(path, ": a 90000000 x 90000000 matrix does not fit: rank 0 has no memory for its ");
  make(0, hsize_t{1} << 50);
  EXPECT_EQ(read_hdf5<double>(comm_, path).columns(), Index{1} << 50);
}

TEST_F(Hdf5Matrix, RefusesFilesThatCantBeRead) {
  refuse(folder_ / "missing.h5", ": can't be opened: No such file or directory");
  refuse(folder_.write("text.h5", "no HDF5\n"), ": can't be read as HDF5: ");
  refuse(folder_.write("empty.h5", ""), ": can't be read as HDF5: ");
  const std::vector<double> data(4096, 1.0);
  const auto path = dataset({64, 64}, H5T_NATIVE_DOUBLE, data.data());
  comm_.on_rank(0, [&] { std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2); });
  refuse(path, ": can't be read as HDF5: ");
}

TEST_F(Hdf5Matrix, KeepsTheCallersErrorHandler) {
  H5E_auto2_t before = nullptr;
  H5E_auto2_t after = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data);
  refuse(folder_.write("text.h5", "no HDF5\n"), ": can't be read as HDF5: ");
  H5Eget_auto2(H5E_DEFAULT, &after, &data);
  EXPECT_EQ(before, after);
}

TEST_F(Hdf5Matrix, RefusesAFolderThatIsNotThere) {
  const DistributedMatrix<double> A(comm_, Placement::row_bands(1, 1, comm_.size()));
  fill(A, 1.0);
  const auto path = folder_ / "none/out.h5";
  const Error error = error_of([&] { write_hdf5(path, A); });
  EXPECT_EQ(error.kind(), ErrorKind::output);
  EXPECT_EQ(error.what(), path.string() + ": can't be written: No such file or directory");
}

}  // namespace
}  // namespace heddle::hdf5_test
