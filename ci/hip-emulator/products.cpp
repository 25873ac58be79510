// The SHA-256 of an emulated product of the matrices that `heddle gemm --size N --arithmetic emulated --hash` makes.
#include "blas/backend.hpp"
#include "drivers/support/matrices/matrices.hpp"
#include <heddle/emulation/emulation.hpp>

#include <cstdio>
#include <string>

namespace heddle::impl {

// No product is the BLAS's, which is left out.
std::shared_ptr<blas::Context::State> make_backend_state(const ExecutionSpace& /*space*/, MathMode /*math*/) {
  return {};
}

}  // namespace heddle::impl

namespace {

template <heddle::Scalar T> void print_hash(heddle::Index n, int moduli) {
  using heddle::Index;
  using Matrix = Kokkos::View<T**, Kokkos::LayoutLeft, heddle::MemorySpace>;
  const auto random = [n](const std::string& label, std::uint64_t seed) {
    const Matrix made(label, n, n);
    const auto host = Kokkos::create_mirror_view(made);
    const heddle::driver::RandomElement<T> element{seed};
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) host(i, j) = element(i, j);
    }
    Kokkos::deep_copy(made, host);
    return made;
  };
  const Matrix A = random("A", 1);
  const Matrix B = random("B", 2);
  const Matrix C("C", n, n);
  const heddle::ExecutionSpace space;
  heddle::EmulatedGemm<T> gemm(heddle::blas::Context(space), n, n, n, {.moduli = moduli});
  gemm(heddle::Operation::none, heddle::Operation::none, T(1), heddle::MatrixView<const T>(A),
       heddle::MatrixView<const T>(B), T(0), heddle::MatrixView<T>(C));
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, C);
  heddle::driver::Sha256 hash;
  hash.add_numbers(host.data(), host.span());
  std::printf("%s\n", hash.digest().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "products SCALAR SIZE MODULI\n");
    return 2;
  }
  const Kokkos::ScopeGuard guard;
  const std::string scalar = argv[1];
  const heddle::Index size = std::stol(argv[2]);
  const int moduli = std::stoi(argv[3]);
  if (scalar == "double") print_hash<double>(size, moduli);
  if (scalar == "float") print_hash<float>(size, moduli);
  if (scalar == "complex-double") print_hash<Kokkos::complex<double>>(size, moduli);
  if (scalar == "complex-float") print_hash<Kokkos::complex<float>>(size, moduli);
}
