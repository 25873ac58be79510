# Flags of Heddle's own code: warnings, architecture, sanitizers. Nothing here reaches a user of the installed package.
add_library(heddle_flags INTERFACE)
target_compile_options(heddle_flags INTERFACE -Wall -Wextra $<$<NOT:$<BOOL:${HEDDLE_GPU}>>:-Wpedantic -Wshadow>)
if(HEDDLE_ARCH)
  target_compile_options(heddle_flags INTERFACE $<$<NOT:$<BOOL:${HEDDLE_GPU}>>:-march=${HEDDLE_ARCH}>)
endif()
# Calls within the shared library reach its own functions even if a program preloads others, so GCC may inline them, as it
# does in a static library, and as Clang always does.
target_compile_options(heddle_flags INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<BOOL:${HEDDLE_GPU}>>>:-fno-semantic-interposition>)
# A product and a sum stay two roundings unless the code says fma: the bits promised do not depend on the compiler.
target_compile_options(heddle_flags INTERFACE -ffp-contract=off)
# GCC then collects garbage less often, which takes a tenth off the time of large files.
target_compile_options(heddle_flags INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<BOOL:${HEDDLE_GPU}>>>:--param=ggc-min-heapsize=786432>)
if(HEDDLE_SANITIZE)
  set(HEDDLE_SANITIZERS -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_compile_options(heddle_flags INTERFACE ${HEDDLE_SANITIZERS})
  target_link_options(heddle_flags INTERFACE ${HEDDLE_SANITIZERS})
endif()
