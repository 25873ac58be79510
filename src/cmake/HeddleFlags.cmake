# Flags of Heddle's own code: warnings, architecture, sanitizers. Nothing here reaches a user of the installed package.
add_library(heddle_flags INTERFACE)
target_compile_options(heddle_flags INTERFACE -Wall -Wextra $<$<NOT:$<BOOL:${HEDDLE_GPU}>>:-Wpedantic -Wshadow>)
if(HEDDLE_ARCH)
  target_compile_options(heddle_flags INTERFACE $<$<NOT:$<BOOL:${HEDDLE_GPU}>>:-march=${HEDDLE_ARCH}>)
endif()
# A product and a sum stay two roundings unless the code says fma: the bits promised do not depend on the compiler.
target_compile_options(heddle_flags INTERFACE -ffp-contract=off)
if(HEDDLE_SANITIZE)
  target_compile_options(heddle_flags INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer
                                                -fno-sanitize-recover=undefined)
  target_link_options(heddle_flags INTERFACE -fsanitize=address,undefined)
endif()
