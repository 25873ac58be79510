# Headers that nearly every source includes, compiled once for each target: half of a typical file's time. No source relies
# on it: builds for GPUs have none (nvcc takes no such headers), and neither have the tests of single headers.
set(HEDDLE_PRECOMPILED_STANDARD <algorithm> <array> <chrono> <cmath> <complex> <cstdint> <filesystem> <fstream>
    <functional> <limits> <map> <memory> <numeric> <optional> <set> <span> <sstream> <string> <string_view> <tuple>
    <type_traits> <utility> <vector>)

# heddle_precompile(TARGET [HEADER...]): Kokkos, MPI, the standard library and further headers.
function(heddle_precompile target)
  if(HEDDLE_GPU OR HEDDLE_FUZZ)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE <Kokkos_Core.hpp> <mpi.h> ${HEDDLE_PRECOMPILED_STANDARD} ${ARGN})
  # Required by ccache to find the precompiled header among the dependencies of a source.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()

# heddle_precompile_as(TARGET OTHER): use the headers precompiled for OTHER, which has the same flags.
function(heddle_precompile_as target other)
  if(HEDDLE_GPU OR HEDDLE_FUZZ)
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${other})
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()
