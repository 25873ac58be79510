// Included before all else of libheddle_blas.so: a program's complex numbers are aligned as their parts are, where
// Kokkos has them aligned as the whole.
#pragma once

#include <Kokkos_Macros.hpp>

#undef KOKKOS_ENABLE_COMPLEX_ALIGN
