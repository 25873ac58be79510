// Loops over the lanes of a CPU's vectors.
#pragma once

/// Before a loop: its iterations are independent, and few enough that compilers would rather unroll it than use
/// vectors.
#if defined(_OPENMP) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define HEDDLE_SIMD _Pragma("omp simd")
#else
#define HEDDLE_SIMD
#endif
