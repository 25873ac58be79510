// One harness of libFuzzer: the one of HEDDLE_FUZZ_READERS that is named HEDDLE_FUZZ_READER gets every input as a
// file; with HEDDLE_FUZZ_HDF5, as what hdf5_input.hpp makes of it.
#include "fuzz/hdf5_input.hpp"
#include "fuzz/readers.hpp"
#include <heddle/comm/communicator.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

// In memory where the system has a folder for that: thousands of files are written a second.
std::string input_name(std::string_view ending) {
  const char* const folder = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  return std::string(folder) + "/heddle-fuzz-" + std::to_string(::getpid()) + std::string(ending);
}

const heddle::test::Reader& chosen() {
  static const auto readers = heddle::test::HEDDLE_FUZZ_READERS();
  return *std::find_if(readers.begin(), readers.end(),
                       [](const heddle::test::Reader& one) { return one.name == HEDDLE_FUZZ_READER; });
}

const std::string& input() {
  static const std::string name = input_name(chosen().ending);
  return name;
}

#ifndef HEDDLE_FUZZ_HDF5
void write(const std::uint8_t* data, std::size_t size) {
  std::FILE* const file = std::fopen(input().c_str(), "wb");
  if (file == nullptr || std::fwrite(data, 1, size, file) != size || std::fclose(file) != 0) {
    std::perror(input().c_str());
    std::exit(1);
  }
}
#endif

}  // namespace

// Once, before the first input. MPI and Kokkos stay until the process ends: what libFuzzer does at its end is its own.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  Kokkos::initialize(Kokkos::InitializationSettings().set_num_threads(1).set_disable_warnings(true));
  input();
  std::atexit([] { std::remove(input().c_str()); });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
#ifdef HEDDLE_FUZZ_HDF5
  heddle::test::write_hdf5_input(input(), data, size);
#else
  write(data, size);
#endif
  try {
    chosen().read(input());
  } catch (const std::logic_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
  return 0;
}
