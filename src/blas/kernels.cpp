// blas::gemm on Kokkos Kernels, which calls the vendor's BLAS where it was built with it.
#include "blas/backend.hpp"
#include "core/instantiate.hpp"

#include <KokkosBlas3_gemm.hpp>
#include <KokkosKernels_config.h>
#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>

namespace heddle::impl {
namespace {

// Kokkos Kernels hands LayoutLeft to the vendor's BLAS: the padded rows of a parent are its leading dimension.
template <class T> auto layout_left(const MatrixView<T>& matrix) {
  using Parent = Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const Parent parent(matrix.data(), static_cast<std::size_t>(leading_dimension(matrix)), matrix.extent(1));
  return Kokkos::subview(parent, Kokkos::pair<std::size_t, std::size_t>(0, matrix.extent(0)), Kokkos::ALL);
}

}  // namespace

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void backend_gemm(const blas::Context& context, Operation op_a, Operation op_b, T alpha, const MatrixView<const T>& A,
                  const MatrixView<const T>& B, T beta, const MatrixView<T>& C) {
  const Kokkos::Profiling::ScopedRegion region("heddle::blas::gemm");
  // On GPUs Kokkos Kernels splits the dot products of op(A) B, if C is small, among teams that add up in any order;
  // one of at most 4096 terms it leaves whole, so that passes of those give the same bits every time.
  constexpr std::size_t whole = 4096;
  const std::size_t inner = A.extent(op_a == Operation::none ? 1 : 0);
  const bool split = !Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible &&
                     op_a != Operation::none && op_b == Operation::none && C.size() < 1600;
  const std::size_t pass = split ? whole : inner;
  for (std::size_t begin = 0; begin < inner; begin += pass) {
    const Kokkos::pair<std::size_t, std::size_t> terms(begin, std::min(begin + pass, inner));
    const auto a =
        op_a == Operation::none ? Kokkos::subview(A, Kokkos::ALL, terms) : Kokkos::subview(A, terms, Kokkos::ALL);
    const auto b =
        op_b == Operation::none ? Kokkos::subview(B, terms, Kokkos::ALL) : Kokkos::subview(B, Kokkos::ALL, terms);
    KokkosBlas::gemm(context.space(), to_string(op_a).data(), to_string(op_b).data(), alpha, layout_left<const T>(a),
                     layout_left<const T>(b), begin == 0 ? beta : T{1}, layout_left(C));
  }
}

std::string backend_description() {
  return "Kokkos Kernels " + std::to_string(KOKKOSKERNELS_VERSION_MAJOR) + "." +
         std::to_string(KOKKOSKERNELS_VERSION_MINOR) + "." + std::to_string(KOKKOSKERNELS_VERSION_PATCH);
}

std::string backend_math_trouble(MathMode mode) {
  if constexpr (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible) {
    return "rocBLAS takes matrix cores where it likes; expected auto";
  }
  return mode == MathMode::plain ? "" : "CPUs have one arithmetic; expected plain or auto";
}

bool backend_runs_side_by_side() {
  return false;
}
std::shared_ptr<blas::Context::State> make_backend_state(const ExecutionSpace&, MathMode) {
  return {};
}

HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE_BACKEND_GEMM);

}  // namespace heddle::impl
