# How a product and a sum are rounded follows from the room that a source lies in, and no list of files says otherwise
# (ci/include_graph.py checks that, and that docs/architecture.md has the same rooms). GCC and Clang keep two roundings everywhere (HeddleFlags.cmake); nvcc fuses them
# unless told.
#
# Rooms of which runs promise the same bits on every backend: two roundings on GPUs too.
set(HEDDLE_ROOMS_UNFUSED expm schrodinger solve)
# Rooms whose vectors' products and sums are one instruction each, as the bits that they promise have it.
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
