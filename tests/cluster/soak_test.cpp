// Thousands of products one after another: neither memory nor open files nor anything of MPI's may pile up. How many:
// HEDDLE_SOAK_PRODUCTS.
#include "support/matrices.hpp"
#include <heddle/gemm/gemm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace {

// MPI objects of this process, counted by the functions of MPI's profiling interface below.
std::atomic<long> requests{0};
std::atomic<long> communicators{0};

int begun(int result, const MPI_Request* request) {
  if (*request != MPI_REQUEST_NULL) ++requests;
  return result;
}

// A call that may end some requests: those that are null after it and were not before.
template <class Call> int ended(const Call& call, MPI_Request* all, int count) {
  const auto open = [&] { return std::count_if(all, all + count, [](auto one) { return one != MPI_REQUEST_NULL; }); };
  const auto before = open();
  const int result = call();
  requests -= before - open();
  return result;
}

int made(int result) {
  ++communicators;
  return result;
}

}  // namespace

extern "C" {
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return begun(PMPI_Isend(data, count, type, to, tag, comm, request), request);
}
int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  return begun(PMPI_Irecv(data, count, type, from, tag, comm, request), request);
}
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return begun(PMPI_Ibarrier(comm, request), request);
}
int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  return begun(PMPI_Ibcast(data, count, type, root, comm, request), request);
}
int MPI_Ireduce(const void* data, void* all, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request) {
  return begun(PMPI_Ireduce(data, all, count, type, op, root, comm, request), request);
}
int MPI_Iallreduce(const void* data, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  return begun(PMPI_Iallreduce(data, all, count, type, op, comm, request), request);
}
int MPI_Iallgather(const void* data, int count, MPI_Datatype type, void* all, int counts, MPI_Datatype types,
                   MPI_Comm comm, MPI_Request* request) {
  return begun(PMPI_Iallgather(data, count, type, all, counts, types, comm, request), request);
}
int MPI_Ialltoall(const void* data, int count, MPI_Datatype type, void* all, int counts, MPI_Datatype types,
                  MPI_Comm comm, MPI_Request* request) {
  return begun(PMPI_Ialltoall(data, count, type, all, counts, types, comm, request), request);
}
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  return ended([&] { return PMPI_Test(request, flag, status); }, request, 1);
}
int MPI_Testall(int count, MPI_Request* all, int* flag, MPI_Status* statuses) {
  return ended([&] { return PMPI_Testall(count, all, flag, statuses); }, all, count);
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return ended([&] { return PMPI_Wait(request, status); }, request, 1);
}
int MPI_Waitall(int count, MPI_Request* all, MPI_Status* statuses) {
  return ended([&] { return PMPI_Waitall(count, all, statuses); }, all, count);
}
int MPI_Request_free(MPI_Request* request) {
  return ended([&] { return PMPI_Request_free(request); }, request, 1);
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* other) {
  return made(PMPI_Comm_dup(comm, other));
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* other) {
  return made(PMPI_Comm_split(comm, color, key, other));
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* other) {
  return made(PMPI_Comm_split_type(comm, type, key, info, other));
}
int MPI_Comm_free(MPI_Comm* comm) {
  --communicators;
  return PMPI_Comm_free(comm);
}
}

namespace heddle::soak_test {
namespace {

// Resources that must not grow: resident mebibytes, open files, requests and communicators of MPI.
struct Usage {
  double mebibytes = 0.0;
  long files = 0;
  long requests = 0;
  long communicators = 0;
};

Usage usage() {
  Usage now;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) now.mebibytes = std::stod(line.substr(6)) / 1024;
  }
  const std::filesystem::directory_iterator files("/proc/self/fd");
  now.files = std::distance(begin(files), end(files));
  now.requests = ::requests;
  now.communicators = ::communicators;
  return now;
}

// Products of three kinds, two by plans that are kept and one whose plan is made anew.
class Products {
 public:
  explicit Products(const Communicator& comm) : comm_(comm) {}

  void run(long k) {
    if (k % 4 == 0) {
      gemm<Kokkos::complex<double>>(comm_, Operation::conjugate_transpose, Operation::none, 1.0, complex_, complex_,
                                    0.0, complex_result_, {.tile = 16});
    } else if (k % 4 == 1) {
      emulated_.execute(1.0, blocks_, blocks_, 0.0, result_);
    } else {
      native_.execute(0.5, blocks_, bands_, -1.0, result_);
    }
  }

 private:
  static constexpr Index n = 48;

  Communicator comm_;
  Placement in_bands_ = Placement::row_bands(n, n, comm_.size());
  Placement in_blocks_ = Placement::block_cyclic(n, n, 5, 7, comm_.size() / 2, 2);
  DistributedMatrix<double> bands_ = test::random_matrix<double>(comm_, in_bands_, 1);
  DistributedMatrix<double> blocks_ = test::random_matrix<double>(comm_, in_blocks_, 2);
  DistributedMatrix<double> result_{comm_, in_bands_};
  DistributedMatrix<Kokkos::complex<double>> complex_ =
      test::random_matrix<Kokkos::complex<double>>(comm_, in_blocks_, 3);
  DistributedMatrix<Kokkos::complex<double>> complex_result_{comm_, in_blocks_};
  GemmPlan<double> native_{comm_,     Operation::none, in_blocks_,  Operation::transpose,
                           in_bands_, in_bands_,       {.tile = 16}};
  GemmPlan<double> emulated_{comm_,
                             Operation::transpose,
                             in_blocks_,
                             Operation::none,
                             in_blocks_,
                             in_bands_,
                             {.tile = 16, .arithmetic = Arithmetic::emulated}};
};

TEST(Soak, ProductsLeaveNothingBehind) {
  const Communicator comm = test::world();
  ASSERT_EQ(comm.size() % 2, 0) << "an even number of ranks is expected";
  const char* const wanted = std::getenv("HEDDLE_SOAK_PRODUCTS");
  const long count = wanted != nullptr ? std::atol(wanted) : 400;
  Products products(comm);
  // Objects made at first use stay; allocators of processes reach their level within the first quarter.
  const long first = count / 4;
  for (long k = 0; k < first; ++k) products.run(k);
  comm.barrier();
  const Usage before = usage();
  for (long k = first; k < count; ++k) {
    products.run(k);
    if (comm.rank() == 0 && k % 1000 == 999) std::cout << k + 1 << " products, " << usage().mebibytes << " MiB\n";
  }
  comm.barrier();
  const Usage after = usage();
  // A page for each product would be 30 MiB of 7,500.
  EXPECT_LT(after.mebibytes - before.mebibytes, 2.0);
  EXPECT_EQ(after.files, before.files);
  EXPECT_EQ(after.requests, before.requests);
  EXPECT_EQ(after.communicators, before.communicators);
}

}  // namespace
}  // namespace heddle::soak_test
