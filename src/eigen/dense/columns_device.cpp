// Three kernels a step: inner products of each pair of blocks, in parts of their rows; the eigenproblem of these, a
// team each, in scratch memory; and the rotations, in tiles of rows.
#include "core/instantiate.hpp"
#include "core/launch_bounds.hpp"
#include "eigen/dense/columns.hpp"
#include "eigen/dense/small.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <numeric>

namespace heddle::eigen::impl {
namespace {

// Rows of a tile that is rotated, and of one that is staged for inner products.
constexpr int tile_rows = 64;
constexpr int staged_rows = 16;
// Rows whose inner products one team adds up.
constexpr Index part_rows = 256;
// Threads along the columns of a pair of blocks, and along a tile's rows.
constexpr int side = 8;
constexpr int tile_side = 16;
constexpr int product_threads = side * side;
constexpr int rotation_threads = side * tile_side;

template <int threads, int teams>
using Teams = Kokkos::TeamPolicy<ExecutionSpace, heddle::impl::LaunchBounds<threads, teams>>;
using ProductTeams = Teams<product_threads, 12>;
using SmallTeams = Teams<256, 2>;
using RotationTeams = Teams<rotation_threads, 6>;

// Counts of one team, and whether its pair is to be rotated.
template <class R> struct Done {
  SweepCounts<R> all;
  int rotate = 0;
};

// m = 2 block. Pointers are to device memory.
template <Scalar T, int m> struct Step {
  using R = Real<T>;
  static constexpr int block = m / 2;
  static constexpr int each = m / side;  // Columns of a thread.

  T* data;
  Index leading;
  Index matrix_stride;
  Index rows;         ///< Those of inner products.
  const int* chosen;  ///< The matrices that are worked on.
  int most_pairs;     ///< Of a matrix.
  BlockPairs order;
  int parts;
  T* partial;     ///< m x m for each part of each pair.
  T* rotations;   ///< m x m for each pair.
  Done<R>* done;  ///< most_pairs for each matrix.
  R tolerance;

  /// Columns of a pair: those of its first block, and of its second one.
  struct Columns {
    T* first;
    T* second;
    Index leading;
    KOKKOS_INLINE_FUNCTION T* operator()(int j) const {
      return j < block ? first + j * leading : second + (j - block) * leading;
    }
  };
  // Pairs are counted over all chosen matrices.
  KOKKOS_INLINE_FUNCTION Columns columns(int pair) const {
    T* const matrix = data + chosen[pair / order.pairs] * matrix_stride;
    const int k = pair % order.pairs;
    return {matrix + static_cast<Index>(order.first(k)) * block * leading,
            matrix + static_cast<Index>(order.second(k)) * block * leading, leading};
  }
  KOKKOS_INLINE_FUNCTION Done<R>& done_of(int pair) const {
    return done[static_cast<Index>(chosen[pair / order.pairs]) * most_pairs + pair % order.pairs];
  }
};

template <Scalar T, int m> struct InnerProducts : Step<T, m> {
  // Rows are padded by one element, which avoids bank conflicts.
  static constexpr int pitch = m + 1;
  static constexpr int bytes = staged_rows * pitch * static_cast<int>(sizeof(T));

  KOKKOS_INLINE_FUNCTION void operator()(const typename ProductTeams::member_type& team) const {
    constexpr int each = Step<T, m>::each;
    const int pair = team.league_rank() / this->parts;
    const int part = team.league_rank() % this->parts;
    const auto columns = this->columns(pair);
    T* const staged = static_cast<T*>(team.team_shmem().get_shmem(int{bytes}));
    const int rank = team.team_rank();
    const int across = rank / side;
    const int along = rank % side;
    T sum[each][each] = {};
    const Index begin = part * part_rows;
    const Index end = begin + part_rows < this->rows ? begin + part_rows : this->rows;
    constexpr int loads = staged_rows * m / product_threads;
    T next[loads];
    const auto fetch = [&](Index first) {
      for (int load = 0; load < loads; ++load) {
        const int at = rank + load * product_threads;
        next[load] = columns(at / staged_rows)[first + at % staged_rows];
      }
    };
    fetch(begin);
    for (Index first = begin; first < end; first += staged_rows) {
      for (int load = 0; load < loads; ++load) {
        const int at = rank + load * product_threads;
        staged[at % staged_rows * pitch + at / staged_rows] = next[load];
      }
      team.team_barrier();
      if (first + staged_rows < end) {
        fetch(first + staged_rows);
      }
      for (int i = 0; i < staged_rows; ++i) {
        T x[each];
        T y[each];
        for (int p = 0; p < each; ++p) {
          x[p] = conjugate(staged[i * pitch + along + side * p]);
          y[p] = staged[i * pitch + across + side * p];
        }
        for (int q = 0; q < each; ++q) {
          for (int p = 0; p < each; ++p) {
            sum[p][q] = multiply_add<T>(x[p], y[q], sum[p][q]);
          }
        }
      }
      team.team_barrier();
    }
    T* const out = this->partial + static_cast<Index>(team.league_rank()) * m * m;
    for (int q = 0; q < each; ++q) {
      for (int p = 0; p < each; ++p) {
        out[along + side * p + (across + side * q) * m] = sum[p][q];
      }
    }
  }
};

template <Scalar T, int m> struct SolveSmall : Step<T, m> {
  using R = Real<T>;

  KOKKOS_INLINE_FUNCTION void operator()(const typename SmallTeams::member_type& team) const {
    const int pair = team.league_rank();
    SmallProblem<T> problem =
        SmallProblem<T>::in(team.team_shmem().get_shmem(static_cast<int>(SmallProblem<T>::bytes(m / 2))), m / 2);
    problem.begin(team);
    const T* const products = this->partial + static_cast<Index>(pair) * this->parts * m * m;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, m * m), [&](int at) {
      const int i = at % m;
      const int j = at / m;
      if (i > j) {
        return;
      }
      T sum = T(0);
      for (int part = 0; part < this->parts; ++part) {
        sum += products[static_cast<Index>(part) * m * m + at];
      }
      problem.set(i, j, i == j ? T(real_part(sum)) : sum);
    });
    team.team_barrier();
    const SweepCounts<R> counts = problem.template sweep<0>(team, {this->tolerance, this->tolerance, R(0), true});
    if (counts.rotations > 0) {
      T* const Q = this->rotations + static_cast<Index>(pair) * m * m;
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, m * m), [&](int at) { Q[at] = problem.Q[at]; });
    }
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      Done<R>& mine = this->done_of(pair);
      mine.all += counts;
      mine.rotate = counts.rotations > 0 ? 1 : 0;
    });
  }
};

template <Scalar T, int m> struct RotateColumns : Step<T, m> {
  static constexpr int depth = m / 2;  // Columns of X that are staged at a time.
  static constexpr int pitch = m + 1;
  static constexpr int bytes = depth * (tile_rows + pitch) * static_cast<int>(sizeof(T));

  KOKKOS_INLINE_FUNCTION void operator()(const typename RotationTeams::member_type& team) const {
    constexpr int each = Step<T, m>::each;
    constexpr int rows_each = tile_rows / tile_side;
    const int tiles = static_cast<int>(this->leading / tile_rows);
    const int pair = team.league_rank() / tiles;
    if (this->done_of(pair).rotate == 0) {
      return;
    }
    const auto columns = this->columns(pair);
    const Index first = static_cast<Index>(team.league_rank() % tiles) * tile_rows;
    T* const X = static_cast<T*>(team.team_shmem().get_shmem(int{bytes}));
    T* const Q = X + depth * tile_rows;
    const T* const rotation = this->rotations + static_cast<Index>(pair) * m * m;
    const int rank = team.team_rank();
    const int across = rank / tile_side;
    const int along = rank % tile_side;
    T sum[rows_each][each] = {};
    for (int half = 0; half < 2; ++half) {
      for (int at = rank; at < depth * tile_rows; at += rotation_threads) {
        X[at] = columns(half * depth + at / tile_rows)[first + at % tile_rows];
      }
      // By rows of Q, whose columns a team reads side by side.
      for (int at = rank; at < depth * m; at += rotation_threads) {
        Q[at % depth * pitch + at / depth] = rotation[half * depth + at % depth + at / depth * m];
      }
      team.team_barrier();
      for (int k = 0; k < depth; ++k) {
        T x[rows_each];
        T q[each];
        for (int r = 0; r < rows_each; ++r) {
          x[r] = X[k * tile_rows + along + tile_side * r];
        }
        for (int j = 0; j < each; ++j) {
          q[j] = Q[k * pitch + across + side * j];
        }
        for (int j = 0; j < each; ++j) {
          for (int r = 0; r < rows_each; ++r) {
            sum[r][j] = multiply_add<T>(x[r], q[j], sum[r][j]);
          }
        }
      }
      team.team_barrier();
    }
    for (int j = 0; j < each; ++j) {
      T* const out = columns(across + side * j) + first;
      for (int r = 0; r < rows_each; ++r) {
        out[along + tile_side * r] = sum[r][j];
      }
    }
  }
};

}  // namespace

template <Scalar T> struct BlockColumns<T>::Work {
  int parts;
  int most_pairs;
  Kokkos::View<int*, MemorySpace> chosen;
  Kokkos::View<T*, MemorySpace> partial;
  Kokkos::View<T*, MemorySpace> rotations;
  Kokkos::View<Done<R>*, MemorySpace> done;

  template <int m>
  void run(const ExecutionSpace& space, const Memory& memory, Index rows, int matrices, const BlockPairs& order,
           R tolerance) const {
    const Step<T, m> step{memory.data(),
                          static_cast<Index>(memory.extent(0)),
                          static_cast<Index>(memory.extent(0) * memory.extent(1)),
                          rows,
                          chosen.data(),
                          most_pairs,
                          order,
                          parts,
                          partial.data(),
                          rotations.data(),
                          done.data(),
                          tolerance};
    const int pairs = matrices * order.pairs;
    using Products = InnerProducts<T, m>;
    Kokkos::parallel_for(
        "heddle::eigen::inner_products",
        ProductTeams(space, pairs * parts, product_threads).set_scratch_size(0, Kokkos::PerTeam(Products::bytes)),
        Products{step});
    const int bytes = static_cast<int>(SmallProblem<T>::bytes(m / 2)) + 64;
    Kokkos::parallel_for("heddle::eigen::small_problems",
                         SmallTeams(space, pairs, 8, 32).set_scratch_size(0, Kokkos::PerTeam(bytes)),
                         SolveSmall<T, m>{step});
    using Rotate = RotateColumns<T, m>;
    const int tiles = static_cast<int>(memory.extent(0)) / tile_rows;
    Kokkos::parallel_for(
        "heddle::eigen::rotate_columns",
        RotationTeams(space, pairs * tiles, rotation_threads).set_scratch_size(0, Kokkos::PerTeam(Rotate::bytes)),
        Rotate{step});
  }
};

namespace {

Index padded_to_tiles(Index rows) {
  return (rows + tile_rows - 1) / tile_rows * tile_rows;
}
int parts_of(Index rows) {
  return static_cast<int>((padded_to_tiles(rows) + part_rows - 1) / part_rows);
}
// The largest block whose small problems fit the scratch memory of a team.
template <Scalar T> bool block_fits(int size) {
  return static_cast<int>(SmallProblem<T>::bytes(size)) + 64 <= SmallTeams::scratch_size_max(0);
}
}  // namespace

template <Scalar T> int BlockColumns<T>::block_for(Index columns, int block) {
  require(block == 0 || block == 8 || block == 16, "eigen: blocks of ", block, " columns; on GPUs blocks have 8 or 16");
  // Matrices of few columns get smaller blocks: otherwise half of the columns of a pair of blocks would be zeros.
  const int chosen = block > 0 ? block : columns > 16 && block_fits<T>(16) ? 16 : 8;
  require(block_fits<T>(chosen), "eigen: blocks of ", chosen, " columns don't fit this GPU's scratch memory");
  return chosen;
}

template <Scalar T> Index BlockColumns<T>::bytes_of_one(Index rows, Index columns, Index carried) {
  const int block = block_for(columns, 0);
  const int blocks = blocks_for(columns, block);
  const Index square = Index{4} * block * block;
  return static_cast<Index>(sizeof(T)) * ((padded_to_tiles(rows) + padded_to_tiles(carried)) * blocks * block +
                                          blocks / 2 * square * (parts_of(rows) + 1));
}

template <Scalar T>
BlockColumns<T>::BlockColumns(const Scratch& scratch, Index rows, Index columns, int block, Index count, Index carried)
    : space_(scratch.space()),
      rows_(rows),
      columns_(columns),
      padded_rows_(padded_to_tiles(rows)),
      chosen_(static_cast<std::size_t>(count)),
      work_(std::make_unique<Work>()) {
  block_ = block_for(columns, block);
  blocks_ = blocks_for(columns, block_);
  const auto matrices = static_cast<std::size_t>(count);
  memory_ = scratch.shaped<Memory>("heddle::eigen::columns", padded_rows_ + padded_to_tiles(carried),
                                   static_cast<Index>(blocks_) * block_, count);
  Kokkos::deep_copy(space_, memory_, T(0));
  work_->parts = parts_of(rows);
  work_->most_pairs = blocks_ / 2;
  const auto pairs = static_cast<std::size_t>(blocks_ / 2) * matrices;
  const auto square = static_cast<std::size_t>(Index{4} * block_ * block_);
  work_->partial =
      scratch.values<T>("heddle::eigen::partial_products", pairs * static_cast<std::size_t>(work_->parts) * square);
  work_->rotations = scratch.values<T>("heddle::eigen::rotations", pairs * square);
  work_->done = scratch.values<Done<R>>("heddle::eigen::done", pairs);
  Kokkos::deep_copy(space_, work_->done, Done<R>());
  work_->chosen = scratch.values<int>("heddle::eigen::chosen", matrices);
  std::iota(chosen_.begin(), chosen_.end(), 0);
  choose(std::vector<int>(chosen_));
}
template <Scalar T> BlockColumns<T>::~BlockColumns() = default;

template <Scalar T> void BlockColumns<T>::set_portable() {}

template <Scalar T> void BlockColumns<T>::choose(const std::vector<int>& matrices) {
  chosen_ = matrices;
  const Kokkos::View<const int*, Kokkos::HostSpace> host(matrices.data(), matrices.size());
  Kokkos::deep_copy(space_, Kokkos::subview(work_->chosen, Kokkos::make_pair(std::size_t{0}, matrices.size())), host);
  space_.fence("heddle::eigen::choose");
}

template <Scalar T> void BlockColumns<T>::step(const BlockPairs& order, R tolerance) {
  const int matrices = static_cast<int>(chosen_.size());
  if (matrices == 0) {
    return;
  }
  if (block_ == 16) {
    work_->template run<32>(space_, memory_, padded_rows_, matrices, order, tolerance);
  } else {
    work_->template run<16>(space_, memory_, padded_rows_, matrices, order, tolerance);
  }
}

template <Scalar T> void BlockColumns<T>::all_steps(R tolerance) {
  for (int at = 0; at < blocks_ - 1; ++at) {
    step({blocks_ / 2, at}, tolerance);
  }
}

template <Scalar T> auto BlockColumns<T>::counts_of_each() -> std::vector<SweepCounts<R>> {
  const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), work_->done);
  Kokkos::deep_copy(space_, host, work_->done);
  Kokkos::deep_copy(space_, work_->done, Done<R>());
  space_.fence("heddle::eigen::counts");
  std::vector<SweepCounts<R>> each(memory_.extent(2));
  const auto most_pairs = static_cast<std::size_t>(work_->most_pairs);
  for (std::size_t pair = 0; pair < host.extent(0); ++pair) {
    each[pair / most_pairs] += host(pair).all;
  }
  return each;
}

#define HEDDLE_INSTANTIATE(T) template class BlockColumns<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
