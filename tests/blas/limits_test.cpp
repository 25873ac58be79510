// Extents beyond the 32-bit integers of a library are refused.
#include "blas/decompositions.hpp"
#include "support/errors.hpp"
#include "support/on_host.hpp"
#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

namespace heddle::limits_test {
namespace {

template <class T> class BlasLimits : public ::testing::Test {};
using Types = ::testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(BlasLimits, Types);

TYPED_TEST(BlasLimits, EigenvectorsWhoseWorkspaceLapackCannotCount) {
  using T = TypeParam;
  if (!test::on_host) {
    GTEST_SKIP() << "the libraries of GPUs count by 64 bits";
  }
  // Refused unread, so that there need be no such matrix. 2 n^2 + 6 n + 1 is 2^31 + 65533 here.
  const std::size_t n = 32767;
  const MatrixView<T> A(nullptr, Kokkos::LayoutStride(n, 1, n, n));
  const Kokkos::View<Real<T>*, MemorySpace> w("heddle::test::w", 1);
  test::expect_refusal(ErrorKind::argument, "eigenvectors: n = 32767 is beyond the integers of the host",
                       [&] { impl::backend_eigenvectors<T>(blas::Context(ExecutionSpace()), A, w); });
}

}  // namespace
}  // namespace heddle::limits_test
