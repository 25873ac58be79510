// The products of `heddle study gemm` by other libraries.
#include "studies/gemm/gemm_peers.hpp"

#include "drivers/support/options/scalars.hpp"
#include "studies/gemm/scalapack.hpp"
#include <heddle/core/error.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <set>
#ifdef HEDDLE_CUBLASXT
#include "studies/gemm/cublasxt.hpp"
#endif
#ifdef HEDDLE_CUBLASMP_FILE
#include "studies/gemm/cublasmp.hpp"
#endif

namespace heddle::driver {
namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

// Return the sizes that fit into n, or n itself, ascending.
std::vector<Index> fitting(const std::vector<Index>& wanted, Index n) {
  std::set<Index> blocks;
  for (const Index block : wanted) blocks.insert(std::min(block, n));
  return {blocks.begin(), blocks.end()};
}

// Libraries that CMake found are loaded on demand: linked to them, the command would not start on machines without
// them, and COSMA has the same names as ScaLAPACK.
struct SharedLibrary {
  const char* name;   // Name for people.
  const char* path;   // Path that CMake found; empty: none.
  const char* where;  // What provides it, and what tells CMake.
};
#ifndef HEDDLE_SCALAPACK_FILE
#define HEDDLE_SCALAPACK_FILE ""
#endif
#ifndef HEDDLE_COSMA_FILE
#define HEDDLE_COSMA_FILE ""
#endif
constexpr SharedLibrary scalapack = {
    "ScaLAPACK", HEDDLE_SCALAPACK_FILE,
    "libscalapack-openmpi-dev of Debian or netlib-scalapack of Spack has it; elsewhere -DSCALAPACK_LIBRARY=FILE"};
constexpr SharedLibrary cosma = {"COSMA", HEDDLE_COSMA_FILE,
                                 "cosma +scalapack of Spack has it; then configure with -DCOSMA_ROOT=FOLDER"};

// Return null and set `trouble` if the library can't be loaded. It stays loaded: MPI may keep its callbacks.
void* loaded(const SharedLibrary& library, std::string& trouble) {
  if (library.path[0] == '\0') {
    trouble = message_of("this build has no ", library.name, ": ", library.where);
    return nullptr;
  }
  void* const handle = dlopen(library.path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    trouble = message_of(library.name, " can't be loaded: ", dlerror());
    return nullptr;
  }
  for (const char* symbol : {"Csys2blacs_handle", "Cfree_blacs_system_handle", "Cblacs_gridinit", "Cblacs_gridexit",
                             "psgemm_", "pdgemm_", "pcgemm_", "pzgemm_"}) {
    if (dlsym(handle, symbol) == nullptr) {
      trouble = message_of(library.name, ": ", library.path, " has no ", symbol);
      return nullptr;
    }
  }
  return handle;
}

template <class Function> Function* function_of(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

template <Scalar T> constexpr const char* pgemm_name = "pdgemm_";
template <> constexpr const char* pgemm_name<float> = "psgemm_";
template <> constexpr const char* pgemm_name<Kokkos::complex<float>> = "pcgemm_";
template <> constexpr const char* pgemm_name<Kokkos::complex<double>> = "pzgemm_";

// Block-cyclic matrices in host memory, on the grid that is nearest to a square.
template <Scalar T> class PblasPeer final : public GemmPeer<T> {
 public:
  PblasPeer(const Communicator& comm, void* library)
      : comm_(comm),
        blacs_{function_of<int(MPI_Comm)>(library, "Csys2blacs_handle"),
               function_of<void(int)>(library, "Cfree_blacs_system_handle"),
               function_of<void(int*, const char*, int, int)>(library, "Cblacs_gridinit"),
               function_of<void(int)>(library, "Cblacs_gridexit")},
        gemm_(function_of<PblasGemm<T>>(library, pgemm_name<T>)) {}

  [[nodiscard]] std::string placement() const override { return "cyclic"; }
  [[nodiscard]] std::vector<Index> blocks(Index n) const override { return fitting({64, 128, 256}, n); }
  [[nodiscard]] std::string place(Index block) const override {
    const std::string size = std::to_string(block);
    return (on_host ? "cyclic:" : "host:cyclic:") + size + "x" + size;
  }
  [[nodiscard]] std::function<void()> product(Index /*block*/, const DistributedMatrix<T>& A,
                                              const DistributedMatrix<T>& B, const DistributedMatrix<T>& C) override {
    const auto product = std::make_shared<PblasProduct<T>>(comm_, blacs_, gemm_, C.placement());
    return [product, A, B, C] { product->multiply(A, B, C); };
  }

 private:
  Communicator comm_;
  Blacs blacs_;
  PblasGemm<T>* gemm_;
};

#ifdef HEDDLE_CUBLASXT
// Rank 0 alone, on the devices of all ranks, with whole matrices in its host memory.
template <Scalar T> class CublasXtPeer final : public GemmPeer<T> {
 public:
  explicit CublasXtPeer(const Communicator& comm) : comm_(comm) {
    const int mine = CublasXt::current_device();
    std::vector<int> devices(static_cast<std::size_t>(comm.size()));
    comm.all_gather(std::span<const int>(&mine, 1), std::span<int>(devices));
    comm.on_rank(0, [&] { library_ = std::make_shared<CublasXt>(each_once(devices)); });
  }

  [[nodiscard]] std::string placement() const override { return "whole-host"; }
  [[nodiscard]] std::vector<Index> blocks(Index n) const override { return fitting({2048, 4096, 8192}, n); }
  [[nodiscard]] std::string place(Index /*block*/) const override { return "host:rank:0"; }
  [[nodiscard]] std::function<void()> product(Index block, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B,
                                              const DistributedMatrix<T>& C) override {
    return [comm = comm_, library = library_, block, A, B, C] {
      comm.on_rank(0, [&] {
        library->multiply<T>(static_cast<int>(block), static_cast<std::size_t>(C.rows()), A.local().data(),
                             B.local().data(), C.local().data());
      });
    };
  }

 private:
  Communicator comm_;
  std::shared_ptr<CublasXt> library_;
};
#endif

#ifdef HEDDLE_CUBLASMP_FILE
// Block-cyclic matrices on the devices of all ranks, on the grid that is nearest to a square.
template <Scalar T> class CublasMpPeer final : public GemmPeer<T> {
 public:
  explicit CublasMpPeer(const Communicator& comm)
      : library_(std::make_shared<const CublasMp>(comm, HEDDLE_CUBLASMP_FILE)) {}

  [[nodiscard]] std::string placement() const override { return "cyclic"; }
  // The widest block gives each process one block.
  [[nodiscard]] std::vector<Index> blocks(Index n) const override {
    const Placement grid = placed(n, 1);
    const Index processes = std::max(grid.row_axis().processes, grid.column_axis().processes);
    return fitting({256, 1024, 4096, n}, (n + processes - 1) / processes);
  }
  [[nodiscard]] std::string place(Index block) const override {
    const std::string size = std::to_string(block);
    return "cyclic:" + size + "x" + size;
  }
  [[nodiscard]] std::function<void()> product(Index /*block*/, const DistributedMatrix<T>& A,
                                              const DistributedMatrix<T>& B, const DistributedMatrix<T>& C) override {
    const auto product = std::make_shared<CublasMpProduct<T>>(library_, A, B, C);
    if (!product->supported()) return {};
    return [product] { product->multiply(); };
  }

  // Return why the library does not multiply matrices of this placement, tried with small ones. Collective.
  [[nodiscard]] std::string trouble() {
    constexpr Index block = 256;
    const Communicator& comm = library_->comm();
    const Placement small = placed(block * comm.size(), block);
    const DistributedMatrix<T> A(comm, small), B(comm, small), C(comm, small);
    if (product(block, A, B, C)) return {};
    const int version = library_->version();
    return message_of("cuBLASMp ", version / 10000, '.', version / 100 % 100, '.', version % 100,
                      " does not take block-cyclic matrices on a grid of ", small.row_axis().processes, " x ",
                      small.column_axis().processes);
  }

 private:
  [[nodiscard]] Placement placed(Index n, Index block) const {
    return placement_from(place(block), n, n, library_->comm().size());
  }
  std::shared_ptr<const CublasMp> library_;
};
#endif

std::string trouble_with_cublasmp(const Communicator& comm) {
#ifdef HEDDLE_CUBLASMP_FILE
  try {
    const std::string trouble = CublasMp::trouble_with(comm);
    return trouble.empty() ? CublasMpPeer<double>(comm).trouble() : trouble;
  } catch (const Error& error) {
    return error.what();
  }
#else
  static_cast<void>(comm);
  return "this build has no cuBLASMp: nvidia-cublasmp-cu12 (or -cu13) of PyPI has it, beside CUDA and NCCL; then "
         "configure a build for CUDA with -DCUBLASMP_ROOT=FOLDER and -DNCCL_ROOT=FOLDER";
#endif
}

std::string trouble_here(const Communicator& comm, const std::string& peer) {
  std::string trouble;
  if (peer == "cublasxt") {
#ifdef HEDDLE_CUBLASXT
    if (comm.nodes() > 1)
      trouble = message_of("cublasXt is of one process, these ranks are on ", comm.nodes(), " nodes");
#else
    static_cast<void>(comm);
    trouble =
        "this build has no cublasXt: nvidia-cuda-toolkit of Debian or cuda of Spack has it; then configure a build "
        "for CUDA";
#endif
  } else if (peer == "cublasmp") {
    trouble = trouble_with_cublasmp(comm);
  } else {
    static_cast<void>(loaded(peer == "cosma" ? cosma : scalapack, trouble));
  }
  return trouble;
}

}  // namespace

std::vector<std::string> gemm_peers() {
  return {"cublasxt", "cublasmp", "scalapack", "cosma"};
}

std::string trouble_with_peer(const Communicator& comm, const std::string& peer) {
  std::string trouble = trouble_here(comm, peer);
  // Report the trouble of the first rank that has one: some nodes may lack a library that others have.
  const int first = comm.all_reduce(trouble.empty() ? comm.size() : comm.rank(), Reduction::minimum);
  if (first == comm.size()) return {};
  comm.broadcast(trouble, first);
  return "--peers " + peer + ": " + trouble;
}

template <Scalar T> std::unique_ptr<GemmPeer<T>> gemm_peer(const Communicator& comm, const std::string& peer) {
#ifdef HEDDLE_CUBLASXT
  if (peer == "cublasxt") return std::make_unique<CublasXtPeer<T>>(comm);
#endif
#ifdef HEDDLE_CUBLASMP_FILE
  if (peer == "cublasmp") return std::make_unique<CublasMpPeer<T>>(comm);
#endif
  std::string trouble;
  void* const library = loaded(peer == "cosma" ? cosma : scalapack, trouble);
  require(trouble.empty(), trouble);
  return std::make_unique<PblasPeer<T>>(comm, library);
}

#define HEDDLE_INSTANTIATE(T) \
  template std::unique_ptr<GemmPeer<T>> gemm_peer<T>(const Communicator&, const std::string&)
HEDDLE_FOR_EACH_DRIVER_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::driver
