// One message tag for each stream of messages, so that streams never meet.
#pragma once

namespace heddle::impl {

inline constexpr int tag_redistribute = 1;
inline constexpr int tag_gemm_a = 2;
inline constexpr int tag_gemm_b = 3;
inline constexpr int tag_gemm_c = 4;
inline constexpr int tag_measure = 5;

}  // namespace heddle::impl
