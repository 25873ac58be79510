// main() of every test program: MPI and Kokkos around GoogleTest, one output of rank 0, failures from every rank.
#include <heddle/comm/device.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <memory>

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  ::testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
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
