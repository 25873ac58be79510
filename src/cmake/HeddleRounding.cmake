# The room of a source alone determines how a product and a sum are rounded; no list of files overrides it
# (ci/lints/include_graph.py checks that, and that docs/architecture.md has the same rooms). GCC and Clang keep two roundings
# everywhere (HeddleFlags.cmake); nvcc fuses them by default.
#
# Rooms that promise the same bits on every backend: two roundings on GPUs, too.
set(HEDDLE_ROOMS_UNFUSED expm schrodinger solve)
# Rooms in which vectors fuse a product and a sum into one instruction, as their promised bits require.
set(HEDDLE_ROOMS_FUSED eigen/simd)

function(heddle_rounding rooms option)
  get_target_property(sources heddle SOURCES)
  list(JOIN rooms "|" names)
  list(FILTER sources INCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/(${names})/.*\\.cpp$")
  set_property(SOURCE ${sources} TARGET_DIRECTORY heddle APPEND PROPERTY COMPILE_OPTIONS ${option})
endfunction()
if(HEDDLE_NVCC)
  heddle_rounding("${HEDDLE_ROOMS_UNFUSED}" --fmad=false)
endif()
if(NOT HEDDLE_GPU)
  heddle_rounding("${HEDDLE_ROOMS_FUSED}" -ffp-contract=fast)
endif()
