// Eigenvectors of Hermitian matrices by the host's LAPACK.
#include "blas/backend.hpp"
#include "blas/decompositions.hpp"
#include "core/instantiate.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <limits>
#include <vector>

// gfortran's convention: everything by reference, the lengths of character arguments by value at the end.
extern "C" {
void ssyevd_(const char*, const char*, const int*, float*, const int*, float*, float*, const int*, int*, const int*,
             int*, std::size_t, std::size_t);
void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*, const int*,
             int*, std::size_t, std::size_t);
void cheevd_(const char*, const char*, const int*, void*, const int*, float*, void*, const int*, float*, const int*,
             int*, const int*, int*, std::size_t, std::size_t);
void zheevd_(const char*, const char*, const int*, void*, const int*, double*, void*, const int*, double*, const int*,
             int*, const int*, int*, std::size_t, std::size_t);
}

namespace heddle::impl {
namespace {

// Length that LAPACK returns as a floating-point number, which may have been rounded down.
template <RealScalar R> int length_of(R given) {
  return static_cast<int>(given * (1 + std::numeric_limits<R>::epsilon()));
}

}  // namespace

bool backend_has_eigenvectors() {
  return true;
}

template <Scalar T>
void backend_eigenvectors(const blas::Context& context, const MatrixView<T>& A,
                          const Kokkos::View<Real<T>*, MemorySpace>& w) {
  using R = Real<T>;
  context.space().fence("heddle::blas::before_eigenvectors");
  const Kokkos::Profiling::ScopedRegion region("heddle::blas::eigenvectors");
  // The longest workspace has 2 n^2 + 6 n + 1 numbers, which LAPACK counts by an int.
  constexpr std::size_t largest = 32766;
  require(A.extent(0) <= largest, "eigenvectors: n = ", A.extent(0),
          " is beyond the integers of the host LAPACK, which take at most ", largest);
  const auto n = static_cast<int>(A.extent(0));
  const auto leading = static_cast<int>(leading_dimension(A));
  int info = 0;
  // A first call asks for the sizes.
  std::vector<T> work(1);
  std::vector<R> reals(1);
  std::vector<int> integers(1);
  int length = -1;
  int real_length = -1;
  int integer_length = -1;
  for (int call = 0; call < 2; ++call) {
    if constexpr (is_complex<T>) {
      auto* const routine =
          std::is_same_v<R, float> ? reinterpret_cast<void (*)()>(&cheevd_) : reinterpret_cast<void (*)()>(&zheevd_);
      using Routine = void (*)(const char*, const char*, const int*, void*, const int*, R*, void*, const int*, R*,
                               const int*, int*, const int*, int*, std::size_t, std::size_t);
      reinterpret_cast<Routine>(routine)("V", "L", &n, A.data(), &leading, w.data(), work.data(), &length, reals.data(),
                                         &real_length, integers.data(), &integer_length, &info, 1, 1);
      if (call == 0) {
        real_length = length_of(reals[0]);
        reals.resize(static_cast<std::size_t>(real_length));
      }
    } else {
      auto* const routine =
          std::is_same_v<T, float> ? reinterpret_cast<void (*)()>(&ssyevd_) : reinterpret_cast<void (*)()>(&dsyevd_);
      using Routine = void (*)(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*,
                               const int*, int*, std::size_t, std::size_t);
      reinterpret_cast<Routine>(routine)("V", "L", &n, A.data(), &leading, w.data(), work.data(), &length,
                                         integers.data(), &integer_length, &info, 1, 1);
    }
    if (call == 0) {
      if constexpr (is_complex<T>) {
        length = length_of(work[0].real());
      } else {
        length = length_of(work[0]);
      }
      integer_length = integers[0];
      work.resize(static_cast<std::size_t>(length));
      integers.resize(static_cast<std::size_t>(integer_length));
    }
  }
  if (info != 0) {
    throw Error(ErrorKind::computation,
                message_of("LAPACK's syevd or heevd of a matrix of ", n, " rows failed with info = ", info));
  }
}

HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE_BACKEND_EIGENVECTORS);

}  // namespace heddle::impl
