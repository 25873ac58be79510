// Loops over the lanes of a CPU's vectors, and over the registers of a GPU's threads.
#pragma once

#if defined(_OPENMP) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define HEDDLE_SIMD_PRAGMA(text) _Pragma(text)
#else
#define HEDDLE_SIMD_PRAGMA(text)
#endif

/// Before a loop: its iterations are independent, and few enough that compilers would rather unroll it than use
/// vectors.
#define HEDDLE_SIMD HEDDLE_SIMD_PRAGMA("omp simd")
/// Before a loop that makes the variable `most` the largest of what it was and what its iterations have.
#define HEDDLE_SIMD_MOST HEDDLE_SIMD_PRAGMA("omp simd reduction(max : most)")

/// Before a loop over an array that a thread of a GPU is to keep in registers.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define HEDDLE_UNROLL _Pragma("unroll")
#else
#define HEDDLE_UNROLL
#endif
