// Products and triangular systems by chains of fused multiply-adds, on CPUs and GPUs.
#include "solve/grid/chain.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "core/simd.hpp"
#include "solve/lu/pivot.hpp"
#include <heddle/dist/placement.hpp>

#include <algorithm>
#include <vector>

namespace heddle::impl {
namespace {

// A tile of C in the registers of a CPU: two vectors of 64 bytes per column, for complex numbers two for each part.
template <Scalar T> struct HostTile {
  using R = Real<T>;
  static constexpr int parts = is_complex<T> ? 2 : 1;
  static constexpr int height = 128 / static_cast<int>(sizeof(R));
  static constexpr int width = is_complex<T> ? 3 : 6;
};

// Pack up to a tile's height of rows of -A, k after k, real and imaginary parts apart, with zeros behind the last row.
template <Scalar T>
void pack_minus(const Elements<const T>& A, Index first, int rows, Index inner, Along along, Real<T>* packed) {
  using Tile = HostTile<T>;
  for (Index k = 0; k < inner; ++k, packed += Tile::parts * Tile::height) {
    const T* const column = &A(first, along == Along::up ? k : inner - 1 - k);
    for (int e = 0; e < Tile::height; ++e) {
      packed[e] = e < rows ? -real_of<Real<T>>(column[e]) : Real<T>(0);
      if constexpr (is_complex<T>) packed[Tile::height + e] = e < rows ? -imaginary_of<Real<T>>(column[e]) : Real<T>(0);
    }
  }
}

// Elements of a column of B, at stride `step`.
template <Scalar T> struct Taken {
  const T* first;
  Index step;
  Index leading;
};

// Add packed b to `columns` columns of a tile, in order.
template <Scalar T, int columns>
void add_to_tile(const Real<T>* packed, Index inner, const Taken<T>& b, T* c, Index leading_c, int rows) {
  using Tile = HostTile<T>;
  using R = Real<T>;
  constexpr int height = Tile::height;
  R sum[columns][Tile::parts][height] = {};
  for (int j = 0; j < columns; ++j) {
    for (int e = 0; e < rows; ++e) {
      sum[j][0][e] = real_of<R>(c[e + j * leading_c]);
      if constexpr (is_complex<T>) sum[j][1][e] = imaginary_of<R>(c[e + j * leading_c]);
    }
  }
  for (Index k = 0; k < inner; ++k, packed += Tile::parts * height) {
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#pragma GCC unroll 8
#endif
    for (int j = 0; j < columns; ++j) {
      const T factor = b.first[k * b.step + j * b.leading];
      const R re = real_of<R>(factor);
      if constexpr (is_complex<T>) {
        const R im = imaginary_of<R>(factor);
        HEDDLE_SIMD
        for (int e = 0; e < height; ++e) {
          sum[j][0][e] = Kokkos::fma(packed[height + e], -im, Kokkos::fma(packed[e], re, sum[j][0][e]));
          sum[j][1][e] = Kokkos::fma(packed[height + e], re, Kokkos::fma(packed[e], im, sum[j][1][e]));
        }
      } else {
        HEDDLE_SIMD
        for (int e = 0; e < height; ++e) sum[j][0][e] = Kokkos::fma(packed[e], re, sum[j][0][e]);
      }
    }
  }
  for (int j = 0; j < columns; ++j) {
    for (int e = 0; e < rows; ++e) {
      if constexpr (is_complex<T>) {
        c[e + j * leading_c] = T(sum[j][0][e], sum[j][1][e]);
      } else {
        c[e + j * leading_c] = sum[j][0][e];
      }
    }
  }
}

template <Scalar T>
void host_subtract(const ExecutionSpace& space, const Elements<const T>& A, const Elements<const T>& B,
                   const Elements<T>& C, Index rows, Index columns, Index inner, Along along) {
  using Tile = HostTile<T>;
  // Columns for which rows are packed once; their part of B stays in the cache.
  constexpr Index chunk = Index{Tile::width} * 16;
  const Index row_tiles = (rows + Tile::height - 1) / Tile::height;
  const Index chunks = (columns + chunk - 1) / chunk;
  Kokkos::parallel_for(
      "heddle::solve::chain_subtract",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, row_tiles * chunks), [=](Index task) {
        thread_local std::vector<Real<T>> packed;
        packed.resize(static_cast<std::size_t>(inner) * Tile::parts * Tile::height);
        const Index first = task % row_tiles * Tile::height;
        const int height = static_cast<int>(std::min<Index>(Tile::height, rows - first));
        pack_minus<T>(A, first, height, inner, along, packed.data());
        const auto taken = [&](Index j) {
          return along == Along::up ? Taken<T>{&B(0, j), 1, B.leading} : Taken<T>{&B(inner - 1, j), -1, B.leading};
        };
        const Index end = std::min((task / row_tiles + 1) * chunk, columns);
        Index j = task / row_tiles * chunk;
        for (; j + Tile::width <= end; j += Tile::width) {
          add_to_tile<T, Tile::width>(packed.data(), inner, taken(j), &C(first, j), C.leading, height);
        }
        for (; j < end; ++j) add_to_tile<T, 1>(packed.data(), inner, taken(j), &C(first, j), C.leading, height);
      });
}

// On GPUs a team computes a tile of C; each thread keeps 4 x 4 elements, and runs of A and B are shared in fast memory.
template <Scalar T> struct DeviceSubtract {
  static constexpr int edge = 64;
  static constexpr int depth = is_complex<T> ? 8 : 16;
  static constexpr int each = 4;
  static constexpr int lanes = edge / each;
  static constexpr int threads = lanes * lanes;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  // The padding of one puts the columns of a row of B into different banks.
  using Run = Kokkos::View<T[depth][edge + 1], Kokkos::LayoutRight, typename ExecutionSpace::scratch_memory_space,
                           Kokkos::MemoryUnmanaged>;

  Elements<const T> A;
  Elements<const T> B;
  Elements<T> C;
  Index rows;
  Index columns;
  Index inner;
  Index row_tiles;
  Along along;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index taken(Index k) const { return along == Along::up ? k : inner - 1 - k; }
  // Elements of a run of A and B that a thread loads, with zeros beyond their ends.
  static constexpr int brought = edge * depth / threads;
  struct Brought {
    T a[brought];
    T b[brought];
  };
  KOKKOS_INLINE_FUNCTION void fetch(const Team& team, Index row, Index column, Index first, Brought& run) const {
    HEDDLE_UNROLL
    for (int t = 0; t < brought; ++t) {
      const int e = team.team_rank() + t * threads;
      const Index i = row + e % edge;
      const Index k = first + e / edge;
      run.a[t] = i < rows && k < inner ? A(i, taken(k)) : T(0);
      const Index p = first + e % depth;
      const Index j = column + e / depth;
      run.b[t] = j < columns && p < inner ? B(taken(p), j) : T(0);
    }
  }
  KOKKOS_INLINE_FUNCTION void store(const Team& team, const Brought& run, const Run& a, const Run& b) const {
    HEDDLE_UNROLL
    for (int t = 0; t < brought; ++t) {
      const int e = team.team_rank() + t * threads;
      a(e / edge, e % edge) = -run.a[t];
      b(e % depth, e / depth) = run.b[t];
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Run a(team.team_scratch(0));
    const Run b(team.team_scratch(0));
    const Index row = team.league_rank() % row_tiles * edge;
    const Index column = team.league_rank() / row_tiles * edge;
    const int my_row = team.team_rank() % lanes;
    const int my_column = team.team_rank() / lanes;
    T sum[each][each];
    HEDDLE_UNROLL
    for (int c = 0; c < each; ++c) {
      HEDDLE_UNROLL
      for (int r = 0; r < each; ++r) {
        const Index i = row + my_row + r * lanes;
        const Index j = column + my_column + c * lanes;
        sum[c][r] = i < rows && j < columns ? C(i, j) : T(0);
      }
    }
    Brought run;
    fetch(team, row, column, 0, run);
    for (Index first = 0; first < inner; first += depth) {
      store(team, run, a, b);
      team.team_barrier();
      // The next run is loaded while this one is multiplied.
      if (first + depth < inner) fetch(team, row, column, first + depth, run);
      // No step beyond the end: adding a product of zeros could change the sign of a zero.
      const int steps = static_cast<int>(Kokkos::min<Index>(depth, inner - first));
      for (int k = 0; k < steps; ++k) {
        T left[each];
        T right[each];
        HEDDLE_UNROLL
        for (int r = 0; r < each; ++r) left[r] = a(k, my_row + r * lanes);
        HEDDLE_UNROLL
        for (int c = 0; c < each; ++c) right[c] = b(k, my_column + c * lanes);
        HEDDLE_UNROLL
        for (int c = 0; c < each; ++c) {
          HEDDLE_UNROLL
          for (int r = 0; r < each; ++r) sum[c][r] = multiply_add(left[r], right[c], sum[c][r]);
        }
      }
      team.team_barrier();
    }
    HEDDLE_UNROLL
    for (int c = 0; c < each; ++c) {
      HEDDLE_UNROLL
      for (int r = 0; r < each; ++r) {
        const Index i = row + my_row + r * lanes;
        const Index j = column + my_column + c * lanes;
        if (i < rows && j < columns) C(i, j) = sum[c][r];
      }
    }
  }
};

// Rows of a triangle in the order in which the elements of x are computed.
struct Order {
  bool lower;
  Index size;
  KOKKOS_INLINE_FUNCTION Index row(Index position) const { return lower ? position : size - 1 - position; }
};

// A thread solves a column of X and keeps `block` of its elements; the triangle is in fast memory.
template <Scalar T> struct DeviceSolve {
  static constexpr int block = is_complex<T> ? 16 : 32;
  static constexpr int threads = 128;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Triangle =
      Kokkos::View<T[block][block], typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

  Elements<const T> M;
  Elements<T> X;
  Order order;
  bool unit;
  Index columns;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Triangle minus(team.team_scratch(0));
    const int size = static_cast<int>(order.size);
    T brought[block * block / threads];
    HEDDLE_UNROLL
    for (int t = 0; t < block * block / threads; ++t) {
      const int i = (team.team_rank() + t * threads) % block;
      const int k = (team.team_rank() + t * threads) / block;
      brought[t] = i < size && k < i ? -M(order.row(i), order.row(k)) : T(0);
    }
    HEDDLE_UNROLL
    for (int t = 0; t < block * block / threads; ++t) {
      minus((team.team_rank() + t * threads) / block, (team.team_rank() + t * threads) % block) = brought[t];
    }
    team.team_barrier();
    const Index j = Index{team.league_rank()} * threads + team.team_rank();
    if (j >= columns) return;
    T x[block];
    HEDDLE_UNROLL
    for (int i = 0; i < block; ++i) x[i] = i < size ? X(order.row(i), j) : T(0);
    HEDDLE_UNROLL
    for (int k = 0; k < block; ++k) {
      if (!unit && k < size) x[k] = PivotDivisor<T>(M(order.row(k), order.row(k)))(x[k]);
      HEDDLE_UNROLL
      for (int i = 0; i < block; ++i) {
        if (i > k) x[i] = multiply_add(minus(k, i), x[k], x[i]);
      }
    }
    HEDDLE_UNROLL
    for (int i = 0; i < block; ++i) {
      if (i < size) X(order.row(i), j) = x[i];
    }
  }
};

// Solve along the column, one element of x after the other.
template <Scalar T>
void host_solve(const ExecutionSpace& space, const Order& order, bool unit, const Elements<const T>& M,
                const Elements<T>& X, Index columns) {
  Kokkos::parallel_for("heddle::solve::chain_solve",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, columns), [=](Index j) {
                         T* const x = &X(0, j);
                         for (Index position = 0; position < order.size; ++position) {
                           const Index k = order.row(position);
                           if (!unit) x[k] = PivotDivisor<T>(M(k, k))(x[k]);
                           const T minus = -x[k];
                           const T* const column = &M(0, k);
                           const Index begin = order.lower ? k + 1 : 0;
                           const Index end = order.lower ? order.size : k;
                           HEDDLE_SIMD
                           for (Index i = begin; i < end; ++i) x[i] = multiply_add(column[i], minus, x[i]);
                         }
                       });
}

template <Scalar T>
void solve_block(const ExecutionSpace& space, bool lower, bool unit, const MatrixView<const T>& M,
                 const MatrixView<T>& X) {
  const Order order{lower, static_cast<Index>(X.extent(0))};
  const auto columns = static_cast<Index>(X.extent(1));
  if constexpr (on_host) {
    host_solve<T>(space, order, unit, Elements<const T>(M), Elements<T>(X), columns);
  } else {
    using Solve = DeviceSolve<T>;
    const Solve solve{Elements<const T>(M), Elements<T>(X), order, unit, columns};
    Kokkos::TeamPolicy<ExecutionSpace> policy(space, static_cast<int>((columns + Solve::threads - 1) / Solve::threads),
                                              Solve::threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Solve::Triangle::shmem_size())));
    Kokkos::parallel_for("heddle::solve::chain_solve", policy, solve);
  }
}

}  // namespace

template <Scalar T>
void chain_subtract(const ExecutionSpace& space, const MatrixView<const T>& A, const MatrixView<const T>& B,
                    const MatrixView<T>& C, Along along) {
  const auto rows = static_cast<Index>(C.extent(0));
  const auto columns = static_cast<Index>(C.extent(1));
  const auto inner = static_cast<Index>(A.extent(1));
  if (rows == 0 || columns == 0 || inner == 0) return;
  if constexpr (on_host) {
    host_subtract<T>(space, Elements<const T>(A), Elements<const T>(B), Elements<T>(C), rows, columns, inner, along);
  } else {
    using Subtract = DeviceSubtract<T>;
    const Index row_tiles = (rows + Subtract::edge - 1) / Subtract::edge;
    const Index tiles = row_tiles * ((columns + Subtract::edge - 1) / Subtract::edge);
    const Subtract subtract{
        Elements<const T>(A), Elements<const T>(B), Elements<T>(C), rows, columns, inner, row_tiles, along};
    Kokkos::TeamPolicy<ExecutionSpace> policy(space, static_cast<int>(tiles), Subtract::threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(2 * Subtract::Run::shmem_size())));
    Kokkos::parallel_for("heddle::solve::chain_subtract", policy, subtract);
  }
}

template <Scalar T>
void chain_solve(const ExecutionSpace& space, Triangle triangle, Diagonal diagonal, const MatrixView<const T>& M,
                 const MatrixView<T>& X) {
  const auto size = static_cast<Index>(X.extent(0));
  const auto columns = static_cast<Index>(X.extent(1));
  if (size == 0 || columns == 0) return;
  const bool lower = triangle == Triangle::lower;
  constexpr Index block = on_host ? 16 : DeviceSolve<T>::block;
  if (size <= block) {
    solve_block<T>(space, lower, diagonal == Diagonal::unit, M, X);
    return;
  }
  const Index half = (size / block + 1) / 2 * block;
  const Range first = lower ? Range{0, half} : Range{half, size};
  const Range second = lower ? Range{half, size} : Range{0, half};
  const auto rows_of_x = [&](Range rows) { return block_of(X, rows.begin, rows.end, 0, columns); };
  const auto part = [&](Range rows, Range of) { return block_of(M, rows.begin, rows.end, of.begin, of.end); };
  chain_solve<T>(space, triangle, diagonal, part(first, first), rows_of_x(first));
  chain_subtract<T>(space, part(second, first), rows_of_x(first), rows_of_x(second), lower ? Along::up : Along::down);
  chain_solve<T>(space, triangle, diagonal, part(second, second), rows_of_x(second));
}

#define HEDDLE_INSTANTIATE(T)                                                                                    \
  template void chain_subtract<T>(const ExecutionSpace&, const MatrixView<const T>&, const MatrixView<const T>&, \
                                  const MatrixView<T>&, Along);                                                  \
  template void chain_solve<T>(const ExecutionSpace&, Triangle, Diagonal, const MatrixView<const T>&,            \
                               const MatrixView<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
