// Transpose on one rank: checks, normal form and dispatch.
#include "core/elementwise.hpp"
#include "core/memory/shared_storage.hpp"
#include "core/names.hpp"
#include "transpose/instantiate.hpp"
#include "transpose/moves.hpp"
#include "transpose/rectangle.hpp"
#include "transpose/tiles.hpp"
#include <heddle/transpose/transpose.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace heddle {
namespace {

constexpr impl::Names<TransposeVariant, 5> names = {{
    {TransposeVariant::automatic, "automatic"},
    {TransposeVariant::naive, "naive"},
    {TransposeVariant::tiled, "tiled"},
    {TransposeVariant::tiled_padded, "tiled-padded"},
    {TransposeVariant::streamed, "streamed"},
}};

}  // namespace

std::string_view to_string(TransposeVariant variant) {
  return impl::name_of(names, variant, "value of heddle::TransposeVariant");
}

TransposeVariant transpose_variant_from(std::string_view text) {
  for (const auto& [value, name] : names) {
    if (name == text) {
      return value;
    }
  }
  throw Error(ErrorKind::argument, message_of("transpose variant \"", text,
                                              "\"; expected automatic, naive, tiled, tiled-padded or streamed"));
}

void impl::require_runs(const TransposeOptions& options, std::size_t element_bytes, Index rows, Index columns) {
  require(options.block_rows >= 0 && options.block_columns >= 0, "transpose: blocks of ", options.block_rows, " x ",
          options.block_columns, "; expected at least 1, or 0 to have them chosen");
  require(options.device_share > 0 && options.device_share <= 1, "transpose: device_share ", options.device_share,
          "; expected more than 0 and at most 1");
  const Block block = block_of(options);
  if (options.variant == TransposeVariant::naive) {
    const Index elements = Index{block.rows} * block.columns;
    require(on_host || elements <= 1024, "transpose: naive blocks of ", block.rows, " x ", block.columns,
            "; a GPU runs at most 1024 threads in one");
    require(elements < Index{1} << 31, "transpose: naive blocks of ", block.rows, " x ", block.columns,
            "; expected fewer than 2^31 elements in one");
  }
  const bool padded = options.variant == TransposeVariant::tiled_padded;
  if (options.variant == TransposeVariant::tiled || padded) {
    const std::size_t bytes = block.bytes(padded, element_bytes);
    const auto most = static_cast<std::size_t>(TeamPolicy::scratch_size_max(scratch_level));
    require(bytes + buffer_alignment <= most, "transpose: blocks of ", block.rows, " x ", block.columns, " take ",
            bytes, " bytes of a team's memory; there are ", most);
    const double tiles =
        std::ceil(static_cast<double>(rows) / block.rows) * std::ceil(static_cast<double>(columns) / block.columns);
    require(tiles < 0x1p31, "transpose: ", tiles, " blocks of ", block.rows, " x ", block.columns,
            "; expected fewer than 2^31: take larger ones");
  }
}

namespace compiled {
namespace {

using namespace impl;

template <class T> Moves<T> moves_of(const StridedBatch<const T>& A, Operation op, const StridedBatch<T>& B) {
  const bool crossed = op != Operation::none;
  Moves<T> moves;
  moves.rows = static_cast<Index>(A.extent(0));
  moves.columns = static_cast<Index>(A.extent(1));
  moves.batch = static_cast<Index>(A.extent(2));
  moves.from = A.data();
  moves.from_row = static_cast<Index>(A.stride(0));
  moves.from_column = static_cast<Index>(A.stride(1));
  moves.from_batch = static_cast<Index>(A.stride(2));
  moves.to = B.data();
  moves.to_row = static_cast<Index>(B.stride(crossed ? 1 : 0));
  moves.to_column = static_cast<Index>(B.stride(crossed ? 0 : 1));
  moves.to_batch = static_cast<Index>(B.stride(2));
  // A row-major A is a column-major one with its indices exchanged.
  if (moves.from_row != 1 && (moves.from_column == 1 || moves.to_row == 1)) {
    std::swap(moves.rows, moves.columns);
    std::swap(moves.from_row, moves.from_column);
    std::swap(moves.to_row, moves.to_column);
  }
  return moves;
}

// Move elements down the columns of A: for moves that do not cross, or that have no single stride.
template <class T> void move_elements(const ExecutionSpace& space, const Moves<T>& moves, const Map<T>& map) {
  for_each_run(
      space, "heddle::transpose::relayout", moves.rows, moves.columns * moves.batch,
      KOKKOS_LAMBDA(Index column, Index begin, Index end) {
        const Index j = column % moves.columns;
        const Index k = column / moves.columns;
        const T* const from = &moves.source(begin, j, k);
        T* const to = &moves.target(begin, j, k);
        if (moves.from_row == 1 && moves.to_row == 1) {
          for (Index i = 0; i < end - begin; ++i) {
            to[i] = map(from[i]);
          }
          return;
        }
        for (Index i = 0; i < end - begin; ++i) {
          to[i * moves.to_row] = map(from[i * moves.from_row]);
        }
      });
}

template <class T> void move_along(const ExecutionSpace& space, const Moves<T>& moves, const Map<T>& map) {
  if constexpr (on_host) {
    if (moves.from_row == 1 && moves.to_row == 1) {
      move_runs(space, moves, map);
      return;
    }
  }
  move_elements(space, moves, map);
}

// Below this, a streamed transposition spares less than its start costs.
constexpr Index small = 64 * 64;

}  // namespace

template <Transposable T>
void transpose(const ExecutionSpace& space, T alpha, const StridedBatch<const T>& A, Operation op,
               const StridedBatch<T>& B, const TransposeOptions& options) {
  const Kokkos::Profiling::ScopedRegion region("heddle::transpose");
  const bool crossed = op != Operation::none;
  require(A.extent(0) == B.extent(crossed ? 1 : 0) && A.extent(1) == B.extent(crossed ? 0 : 1) &&
              A.extent(2) == B.extent(2),
          "transpose: A is ", A.extent(0), " x ", A.extent(1), " x ", A.extent(2), ", op is ", to_string(op), ", B is ",
          B.extent(0), " x ", B.extent(1), " x ", B.extent(2));
  require_runs(options, sizeof(T), static_cast<Index>(A.extent(0)), static_cast<Index>(A.extent(1)));
  if (A.size() == 0) {
    return;
  }
  require_apart("transpose", "A", A, "B", B);
  const Moves<T> moves = moves_of(A, op, B);
  const Map<T> map(alpha, op);
  const bool is_small = moves.rows * moves.columns * moves.batch <= small;
  switch (options.variant) {
    case TransposeVariant::naive:
      move_naively(space, moves, map, options);
      return;
    case TransposeVariant::tiled:
    case TransposeVariant::tiled_padded:
      move_by_tiles(space, moves, map, options);
      return;
    case TransposeVariant::automatic:
    case TransposeVariant::streamed:
      if (is_small && options.variant == TransposeVariant::automatic) {
        move_elements(space, moves, map);
      } else if (moves.crosses()) {
        move_streamed(space, moves, map, options.device_share);
      } else {
        move_along(space, moves, map);
      }
      return;
  }
  throw Error(ErrorKind::argument, "not a value of heddle::TransposeVariant");
}

template <Transposable T>
void transpose_in_place(const ExecutionSpace& space, T alpha, const StridedBatch<T>& A, Operation op) {
  const Kokkos::Profiling::ScopedRegion region("heddle::transpose_in_place");
  require(op == Operation::none || A.extent(0) == A.extent(1), "transpose_in_place: A is ", A.extent(0), " x ",
          A.extent(1), "; expected a square matrix, or the elements of a rectangular one");
  if (A.size() == 0) {
    return;
  }
  const Map<T> map(alpha, op);
  if (op == Operation::none) {
    if (!map.is_identity()) {
      move_elements(space, moves_of<T>(A, op, A), map);
    }
    return;
  }
  swap_across_diagonal(space, moves_of<T>(A, op, A), map);
}

template <Transposable T>
void transpose_in_place(const ExecutionSpace& space, T alpha, const Kokkos::View<T*, MemorySpace>& elements, Index rows,
                        Index columns, Operation op) {
  const Kokkos::Profiling::ScopedRegion region("heddle::transpose_in_place");
  const auto held = static_cast<Index>(elements.extent(0));
  require(rows >= 0 && columns >= 0 && (columns == 0 || rows <= held / columns), "transpose_in_place: A is ", rows,
          " x ", columns, " in ", held, " elements");
  require(rows * columns < (Index{1} << 50), "transpose_in_place: ", rows, " x ", columns,
          " elements; expected fewer than 2^50");
  if (rows * columns == 0) {
    return;
  }
  const auto matrix = [&](Index m, Index n) {
    const auto extent = [](Index k) { return static_cast<std::size_t>(k); };
    return StridedBatch<T>(elements.data(), Kokkos::LayoutStride(extent(m), 1, extent(n), extent(m), 1, extent(m * n)));
  };
  if (op == Operation::none || rows == columns) {
    transpose_in_place<T>(space, alpha, matrix(rows, columns), op);
  } else if (rows == 1 || columns == 1) {
    // The elements stay where they are.
    const StridedBatch<T> all = matrix(rows * columns, 1);
    move_elements(space, moves_of<T>(all, Operation::none, all), Map<T>(alpha, op));
  } else {
    transpose_rectangle(space, elements.data(), columns, rows, Map<T>(alpha, op));
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                                       \
  template void transpose<T>(const ExecutionSpace&, T, const StridedBatch<const T>&, Operation,                     \
                             const StridedBatch<T>&, const TransposeOptions&);                                      \
  template void transpose_in_place<T>(const ExecutionSpace&, T, const StridedBatch<T>&, Operation);                 \
  template void transpose_in_place<T>(const ExecutionSpace&, T, const Kokkos::View<T*, MemorySpace>&, Index, Index, \
                                      Operation)
HEDDLE_FOR_EACH_TRANSPOSABLE(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace compiled
}  // namespace heddle
