// On CPU threads: blocks of 8 x 8 transposed in registers into a buffer that stays in the second-level cache, and from
// there out by whole cache lines past the caches.
//
// A block takes a page's worth of rows of A, so that each column costs one miss of the address translation, and goes
// through its columns eight at a time, so that the hardware sees eight streams. Elements of a line of B that is not
// complete at the end of a run stay in the buffer until the next run completes it: a line written in part would be read
// first.
#include "transpose/instantiate.hpp"
#include "transpose/moves.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace heddle::impl {
namespace {

constexpr int line_bytes = 64;

template <class T> struct Blocking {
  static constexpr int line = line_bytes / static_cast<int>(sizeof(T));
  static constexpr int rows = std::min(512, 4096 / static_cast<int>(sizeof(T)));
  static constexpr int columns = 512 / static_cast<int>(sizeof(T));
  static constexpr int leading = columns + line;  // The first line holds what the last run left over.
  static constexpr std::size_t bytes = 2 * sizeof(T) * rows * leading;
};

// Vectors of so many bytes: without AVX-512 the elements of wider ones go one by one (of 64 bytes) or through more
// instructions than they spare (of 32).
#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#else
constexpr int vector_bytes = 16;
#endif
template <class T, int lanes> struct VectorOf {
  using Element = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using Type [[gnu::vector_size(lanes * sizeof(T))]] = Element;
};

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HEDDLE_SHUFFLES
#endif
#endif

// b[r * ldb + c] = a[r + c * lda] for r, c < lanes, by vectors of as many elements.
template <int lanes, class T> void cross(const T* a, Index lda, T* b, Index ldb) {
#ifdef HEDDLE_SHUFFLES
  if constexpr (lanes > 1) {
    using Lanes = typename VectorOf<T, lanes>::Type;
    Lanes one[lanes];
    Lanes two[lanes];
    for (int c = 0; c < lanes; ++c) {
      std::memcpy(&one[c], a + c * lda, sizeof(Lanes));
    }
    if constexpr (lanes == 8) {
      for (int c = 0; c < 8; c += 2) {
        two[c] = __builtin_shufflevector(one[c], one[c + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        two[c + 1] = __builtin_shufflevector(one[c], one[c + 1], 1, 9, 3, 11, 5, 13, 7, 15);
      }
      for (int c = 0; c < 8; c += 4) {
        for (int r = 0; r < 2; ++r) {
          one[c + r] = __builtin_shufflevector(two[c + r], two[c + r + 2], 0, 1, 8, 9, 4, 5, 12, 13);
          one[c + r + 2] = __builtin_shufflevector(two[c + r], two[c + r + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
      }
      for (int r = 0; r < 4; ++r) {
        two[r] = __builtin_shufflevector(one[r], one[r + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        two[r + 4] = __builtin_shufflevector(one[r], one[r + 4], 4, 5, 6, 7, 12, 13, 14, 15);
      }
    } else if constexpr (lanes == 4) {
      for (int c = 0; c < 4; c += 2) {
        two[c] = __builtin_shufflevector(one[c], one[c + 1], 0, 4, 2, 6);
        two[c + 1] = __builtin_shufflevector(one[c], one[c + 1], 1, 5, 3, 7);
      }
      for (int r = 0; r < 2; ++r) {
        one[r] = __builtin_shufflevector(two[r], two[r + 2], 0, 1, 4, 5);
        one[r + 2] = __builtin_shufflevector(two[r], two[r + 2], 2, 3, 6, 7);
      }
      std::copy_n(one, 4, two);
    } else {
      two[0] = __builtin_shufflevector(one[0], one[1], 0, 2);
      two[1] = __builtin_shufflevector(one[0], one[1], 1, 3);
    }
    for (int r = 0; r < lanes; ++r) {
      std::memcpy(static_cast<void*>(b + r * ldb), &two[r], sizeof(Lanes));
    }
    return;
  }
#endif
  for (int c = 0; c < lanes; ++c) {
    for (int r = 0; r < lanes; ++r) {
      b[r * ldb + c] = a[r + c * lda];
    }
  }
}

// b[r * ldb + c] = a[r + c * lda] for r, c < 8.
template <class T> void cross_8x8(const T* a, Index lda, T* b, Index ldb) {
  constexpr int lanes = sizeof(T) > 8 ? 1 : std::min(8, vector_bytes / static_cast<int>(sizeof(T)));
  for (int r = 0; r < 8; r += lanes) {
    for (int c = 0; c < 8; c += lanes) {
      cross<lanes>(a + r + c * lda, lda, b + r * ldb + c, ldb);
    }
  }
}

// Asks for 8 rows of 8 columns from `a` on, which are read once and soon. If columns are short, those processors
// without AVX-512 that were measured do not see what comes next; along columns of a page they do, and so do the others.
template <class T> void expect_8x8([[maybe_unused]] const T* a, [[maybe_unused]] Index lda) {
#if !defined(__AVX512F__) && (defined(__GNUC__) || defined(__clang__))
  constexpr int per_line = std::max(1, line_bytes / static_cast<int>(sizeof(T)));
  for (int c = 0; c < 8; ++c) {
    for (int r = 0; r < 8; r += per_line) {
      __builtin_prefetch(a + r + c * lda, 0, 0);
    }
  }
#endif
}

// A whole line, `to` at its beginning; past the caches where `streams`.
template <class T> void write_line(T* to, const T* from, const Map<T>& map, bool identity, bool streams) {
  alignas(line_bytes) T line[Blocking<T>::line];
  if (!identity) {
    for (int k = 0; k < Blocking<T>::line; ++k) {
      line[k] = map(from[k]);
    }
    from = line;
  }
#if defined(__AVX512F__)
  if (streams) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
    return;
  }
#elif defined(__x86_64__)
  if (streams) {
    for (int k = 0; k < 4; ++k) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to) + k, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + k));
    }
    return;
  }
#endif
  static_cast<void>(streams);
  std::memcpy(static_cast<void*>(to), from, line_bytes);
}

template <class T> void write_elements(T* to, const T* from, int count, const Map<T>& map) {
  for (int k = 0; k < count; ++k) {
    to[k] = map(from[k]);
  }
}

// Columns [begin, end) of rows [row, row + rows) of matrix k of a batch.
struct BlockOfRows {
  Index row;
  int rows;
  Index begin;
  Index end;
  Index k;
};

// Moves a block, a run of columns at a time: while one is read, the last is written, so that memory does both at once.
template <class T> class BlockMover {
  using B = Blocking<T>;

 public:
  BlockMover(const Moves<T>& moves, const Map<T>& map, bool streams, const BlockOfRows& block, T* buffers)
      : moves_(moves),
        map_(map),
        identity_(map.is_identity()),
        streams_(streams),
        row_(block.row),
        rows_(block.rows),
        begin_(block.begin),
        end_(block.end),
        k_(block.k),
        reading_(buffers),
        writing_(buffers + B::rows * B::leading) {}

  void run() {
    for (Index j = begin_; j < end_; j += B::columns) {
      read(j);
      while (to_write_ < rows_) {
        write_next_row();
      }
      std::swap(reading_, writing_);
      written_from_ = j;
      to_write_ = 0;
    }
    while (to_write_ < rows_) {
      write_next_row();
    }
  }

 private:
  // Columns between those that are read and those that are prefetched.
  static constexpr int expected = 16;

  void read(Index j) {
    const int columns = static_cast<int>(std::min<Index>(B::columns, end_ - j));
    const int whole_rows = rows_ / 8 * 8;
    const int whole_columns = columns / 8 * 8;
    const Index lda = moves_.from_column;
    const T* const a = &moves_.source(row_, j, k_);
    T* const to = reading_ + B::line;
    const bool is_short = rows_ <= B::rows / 4;
    for (int c = 0; c < whole_columns; c += 8) {
      for (int r = 0; r < whole_rows; r += 8) {
        if (is_short && j + c + expected + 8 <= end_) {
          expect_8x8(a + r + (c + expected) * lda, lda);
        }
        cross_8x8(a + r + c * lda, lda, to + r * B::leading + c, B::leading);
        if (to_write_ < rows_) {
          write_next_row();
        }
      }
    }
    const auto cross_rest = [&](int first_row, int last_row, int first_column) {
      for (int c = first_column; c < columns; ++c) {
        for (int r = first_row; r < last_row; ++r) {
          to[r * B::leading + c] = a[r + c * lda];
        }
      }
    };
    cross_rest(0, whole_rows, whole_columns);
    cross_rest(whole_rows, rows_, 0);
  }

  // Write the complete lines of the next row of B, and at the end the rest.
  void write_next_row() {
    const int r = to_write_++;
    const T* from = writing_ + r * B::leading + B::line - carried_[r];
    T* to = &moves_.target(row_ + r, written_from_, k_) - carried_[r];
    const bool is_last = written_from_ + B::columns >= end_;
    int count = carried_[r] + static_cast<int>(std::min<Index>(B::columns, end_ - written_from_));
    if (written_from_ == begin_) {
      // Up to the first line. (Elements that no line begins with, which only a cast can make, go one by one.)
      const auto past = reinterpret_cast<std::uintptr_t>(to) % line_bytes;
      const auto short_of = static_cast<int>((line_bytes - past) % line_bytes);
      const int head =
          short_of % static_cast<int>(sizeof(T)) == 0 ? std::min(short_of / static_cast<int>(sizeof(T)), count) : count;
      write_elements(to, from, head, map_);
      from += head;
      to += head;
      count -= head;
    }
    if (reinterpret_cast<std::uintptr_t>(to) % line_bytes != 0) {
      write_elements(to, from, count, map_);
      carried_[r] = 0;
      return;
    }
    for (; count >= B::line; count -= B::line) {
      write_line(to, from, map_, identity_, streams_);
      from += B::line;
      to += B::line;
    }
    if (is_last) {
      write_elements(to, from, count, map_);
      return;
    }
    // Copy the last line in front of the next run: the elements left over are its end.
    std::memcpy(static_cast<void*>(reading_ + r * B::leading), writing_ + r * B::leading + B::columns, line_bytes);
    carried_[r] = count;
  }

  const Moves<T>& moves_;
  const Map<T>& map_;
  bool identity_;
  bool streams_;
  Index row_;
  int rows_;
  Index begin_;
  Index end_;
  Index k_;
  T* reading_;
  T* writing_;
  Index written_from_ = 0;
  int to_write_ = B::rows;  // Nothing has been read yet.
  int carried_[B::rows] = {};
};

// Bytes from which on a result goes past the caches. A smaller one stays there for its next reader.
constexpr Index bytes_to_stream = Index{4} << 20;

}  // namespace

template <class T>
void move_streamed(const ExecutionSpace& space, const Moves<T>& moves, const Map<T>& map, double /*device_share*/) {
  using B = Blocking<T>;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>>;
  const Index blocks = (moves.rows + B::rows - 1) / B::rows;
  // Enough shares of the columns for every thread to have some, none of them short.
  const Index wanted = (Index{16} * space.concurrency() + blocks * moves.batch - 1) / (blocks * moves.batch);
  const Index longest_runs = std::max<Index>(moves.columns / (8 * B::columns), 1);
  const Index shares = std::clamp<Index>(wanted, 1, longest_runs);
  const Index share = (moves.columns + shares * B::columns - 1) / (shares * B::columns) * B::columns;
  const Index across = (moves.columns + share - 1) / share;
  const Index tasks = blocks * across * moves.batch;
  require(tasks < (Index{1} << 31), "transpose: ", tasks, " blocks; expected fewer than 2^31");
  const bool streams = moves.rows * moves.columns * moves.batch * static_cast<Index>(sizeof(T)) >= bytes_to_stream;
  Policy policy(space, static_cast<int>(tasks), 1);
  policy.set_scratch_size(1, Kokkos::PerTeam(static_cast<int>(B::bytes + line_bytes)));
  Kokkos::parallel_for(
      "heddle::transpose::streamed", policy, KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        const Index task = team.league_rank();
        const Index row = task % blocks * B::rows;
        const Index begin = task / blocks % across * share;
        T* const buffer = static_cast<T*>(team.team_scratch(1).get_shmem_aligned(B::bytes, line_bytes));
        const BlockOfRows block{row, static_cast<int>(std::min<Index>(B::rows, moves.rows - row)), begin,
                                std::min(begin + share, moves.columns), task / blocks / across};
        BlockMover<T>(moves, map, streams, block, buffer).run();
#if defined(__x86_64__)
        // Stores past the caches are visible to others before this thread says that it is done.
        _mm_sfence();
#endif
      });
}

template <class T> void move_runs(const ExecutionSpace& space, const Moves<T>& moves, const Map<T>& map) {
  constexpr Index line = Blocking<T>::line;
  constexpr Index chunk = 1024 * line;
  Moves<T> runs = moves;
  if (runs.from_column == runs.rows && runs.to_column == runs.rows) {
    // Columns that follow one another at both ends are one.
    runs.rows *= runs.columns;
    runs.columns = 1;
  }
  const Index chunks = (runs.rows + chunk - 1) / chunk;
  const bool streams = runs.rows * runs.columns * runs.batch * static_cast<Index>(sizeof(T)) >= bytes_to_stream;
  const bool identity = map.is_identity();
  Kokkos::parallel_for(
      "heddle::transpose::relayout",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, chunks * runs.columns * runs.batch),
      [=](Index task) {
        const Index row = task % chunks * chunk;
        const Index j = task / chunks % runs.columns;
        const Index k = task / chunks / runs.columns;
        const T* from = &runs.source(row, j, k);
        T* to = &runs.target(row, j, k);
        auto left = static_cast<int>(std::min(chunk, runs.rows - row));
        const auto past = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) % line_bytes);
        const auto size = static_cast<int>(sizeof(T));
        // Elements before the next line begins; those of a type wider than they are aligned may never begin one.
        const int before = past % size == 0 ? std::min(left, (line_bytes - past) % line_bytes / size) : left;
        write_elements(to, from, before, map);
        for (left -= before, from += before, to += before; left >= line; left -= line, from += line, to += line) {
          write_line(to, from, map, identity, streams);
        }
        write_elements(to, from, left, map);
#if defined(__x86_64__)
        _mm_sfence();
#endif
      });
}

#define HEDDLE_INSTANTIATE(T)                                                                    \
  template void move_streamed<T>(const ExecutionSpace&, const Moves<T>&, const Map<T>&, double); \
  template void move_runs<T>(const ExecutionSpace&, const Moves<T>&, const Map<T>&)
HEDDLE_FOR_EACH_TRANSPOSABLE(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
