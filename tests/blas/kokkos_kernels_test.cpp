// That this program's products are Kokkos Kernels', and not the library's.
#include "blas/backend.hpp"

#include <gtest/gtest.h>

namespace heddle::test::kokkos_kernels_test {
namespace {

TEST(Backend, IsKokkosKernels) {
  EXPECT_EQ(impl::backend_description().rfind("Kokkos Kernels ", 0), 0U) << impl::backend_description();
}

}  // namespace
}  // namespace heddle::test::kokkos_kernels_test
