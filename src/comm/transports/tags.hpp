// One message tag for each stream of messages, so that streams never meet.
#pragma once

namespace heddle::impl {

inline constexpr int tag_redistribute = 1;
inline constexpr int tag_gemm_a = 2;
inline constexpr int tag_gemm_b = 3;
inline constexpr int tag_gemm_c = 4;
inline constexpr int tag_measure = 5;
inline constexpr int tag_transpose = 6;
/// First of four tags: halves of two groups of columns.
inline constexpr int tag_jacobi = 7;
inline constexpr int tag_jacobi_vectors = 11;
inline constexpr int tag_exchange = 13;
inline constexpr int tag_mirror = 14;

/// Tag of the ids of links.
inline constexpr int tag_link = 1 << 13;

/// Tags of answers, each to one message, in turn: above those of streams, and below the least upper bound that MPI
/// allows.
class AnswerTags {
 public:
  [[nodiscard]] int next() {
    const int tag = first + next_;
    next_ = (next_ + 1) % count;
    return tag;
  }

 private:
  static constexpr int first = 1 << 14;
  static constexpr int count = (1 << 14) - 1;
  int next_ = 0;
};

/// Messages whose copies a receiver's device does one after the other, in the order in which they were posted. Copies
/// in two streams overtake each other, and bands of A and B are posted in the order of their use.
constexpr int order_of(int tag) {
  return tag == tag_gemm_b ? tag_gemm_a : tag;
}

/// Name of the stream of a tag in error messages.
inline const char* stream_of(int tag) {
  switch (tag) {
    case tag_redistribute:
      return "a redistribution";
    case tag_gemm_a:
      return "a band of A";
    case tag_gemm_b:
      return "a band of B";
    case tag_gemm_c:
      return "a tile of C";
    case tag_measure:
      return "a measurement";
    case tag_transpose:
      return "a transpose";
    case tag_mirror:
      return "the other half of a symmetric matrix";
    case tag_jacobi:
    case tag_jacobi + 1:
    case tag_jacobi + 2:
    case tag_jacobi + 3:
      return "the columns that are rotated";
    case tag_jacobi_vectors:
      return "eigenvectors";
    default:
      return "a message";
  }
}

}  // namespace heddle::impl
