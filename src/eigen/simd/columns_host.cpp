// Block columns on CPUs. One thread rotates a pair of blocks: inner products, their eigenproblem and the rotations
// follow one another while the columns are in its cache.
#include "core/instantiate.hpp"
#include "eigen/dense/columns.hpp"
#include "eigen/dense/small.hpp"
#include "eigen/simd/lanes.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace heddle::eigen::impl {
namespace {

// Workspace of one thread.
template <Scalar T> struct Desk {
  using R = Real<T>;
  std::vector<std::byte> small;
  std::vector<R> packed;
  std::vector<R> rows;
  std::vector<R> split;  // Of complex columns: parts of some rows.
};

// Rows that complex columns are taken apart for at a time.
constexpr Index split_rows = 96;

}  // namespace

template <Scalar T> struct BlockColumns<T>::Work {
  std::vector<Desk<T>> desks;
  std::vector<SweepCounts<R>> counts;  // Of each pair of blocks of each matrix.
  bool portable = false;
  Kokkos::Experimental::UniqueToken<ExecutionSpace> tokens;
};

namespace {

template <Scalar T> Index padded_to_vectors(Index rows) {
  return (rows + row_multiple<T> - 1) / row_multiple<T> * row_multiple<T>;
}
// Columns a multiple of 4096 bytes apart would share the sets of the first cache.
template <Scalar T> Index away_from_sets(Index rows) {
  while (rows * static_cast<Index>(sizeof(T)) % 4096 < 256) {
    rows += row_multiple<T>;
  }
  return rows;
}

}  // namespace

template <Scalar T> int BlockColumns<T>::block_for(Index columns, int block) {
  if (block > 0) {
    return clamped_block(columns, block);
  }
  // 2 block columns of 2,000 doubles fill a second cache.
  return columns >= 768 ? 16 : columns < 16 ? static_cast<int>(std::max<Index>(1, (columns + 1) / 2)) : 8;
}

template <Scalar T> Index BlockColumns<T>::bytes_of_one(Index rows, Index columns, Index carried) {
  const int block = block_for(columns, 0);
  return static_cast<Index>(sizeof(T)) * away_from_sets<T>(padded_to_vectors<T>(rows) + padded_to_vectors<T>(carried)) *
         blocks_for(columns, block) * block;
}

template <Scalar T>
BlockColumns<T>::BlockColumns(const Scratch& scratch, Index rows, Index columns, int block, Index count, Index carried)
    : space_(scratch.space()),
      rows_(rows),
      columns_(columns),
      padded_rows_(padded_to_vectors<T>(rows)),
      chosen_(static_cast<std::size_t>(count)),
      work_(std::make_unique<Work>()) {
  block_ = block_for(columns, block);
  blocks_ = blocks_for(columns, block_);
  memory_ =
      scratch.shaped<Memory>("heddle::eigen::columns", away_from_sets<T>(padded_rows_ + padded_to_vectors<T>(carried)),
                             static_cast<Index>(blocks_) * block_, count);
  Kokkos::deep_copy(space_, memory_, T(0));
  std::iota(chosen_.begin(), chosen_.end(), 0);
  const auto m = static_cast<std::size_t>(2 * block_);
  constexpr std::size_t parts = is_complex<T> ? 2 : 1;
  constexpr auto at_once = static_cast<std::size_t>(columns_at_once<T>);
  work_->desks.resize(static_cast<std::size_t>(work_->tokens.size()));
  work_->counts.resize(static_cast<std::size_t>(count * (blocks_ / 2)));
  for (Desk<T>& desk : work_->desks) {
    desk.small.resize(SmallProblem<T>::bytes(block_));
    desk.packed.resize(parts * (m + at_once) * m);
    desk.rows.resize(parts * (m + at_once) * static_cast<std::size_t>(rotated_at_once<T>));
    if (is_complex<T>) {
      desk.split.resize(2 * m * static_cast<std::size_t>(split_rows));
    }
  }
}
template <Scalar T> BlockColumns<T>::~BlockColumns() = default;

template <Scalar T> void BlockColumns<T>::set_portable() {
  work_->portable = true;
}

namespace {

// G = X^H X, both triangles.
template <Scalar T, bool portable> void gram(const std::vector<T*>& X, Index rows, Desk<T>& desk, T* G) {
  using R = Real<T>;
  const int m = static_cast<int>(X.size());
  // Columns whose sums fill the registers.
  constexpr int S = sum_vectors<portable>;
  constexpr int M = has_many_registers ? 4 : S == 4 ? 1 : 2;
  constexpr int N = (has_many_registers || S == 1 ? 4 : 2) / (is_complex<T> ? 2 : 1);
  static_assert(N % M == 0 || M % N == 0);
  constexpr int larger = M > N ? M : N;
  const int whole = m / larger * larger;
  std::fill_n(G, static_cast<std::size_t>(m) * static_cast<std::size_t>(m), T(0));
  const auto tiles = [&](const std::vector<const R*>& re, const std::vector<const R*>& im, Index length) {
    for (int q = 0; q < whole; q += N) {
      for (int p = 0; p < q + N; p += M) {
        inner_products<T, M, N, portable>(re.data() + p, im.data() + p, re.data() + q, im.data() + q, length,
                                          G + p + q * m, m);
      }
    }
    for (int q = whole; q < m; ++q) {
      for (int p = 0; p <= q; ++p) {
        inner_products<T, 1, 1, portable>(re.data() + p, im.data() + p, re.data() + q, im.data() + q, length,
                                          G + p + q * m, m);
      }
    }
  };
  std::vector<const R*> re(static_cast<std::size_t>(m));
  std::vector<const R*> im(static_cast<std::size_t>(m));
  if constexpr (is_complex<T>) {
    for (Index begin = 0; begin < rows; begin += split_rows) {
      const Index length = std::min(split_rows, rows - begin);
      for (int k = 0; k < m; ++k) {
        R* const parts = desk.split.data() + 2 * k * split_rows;
        const R* const numbers = reinterpret_cast<const R*>(X[static_cast<std::size_t>(k)] + begin);
#pragma GCC ivdep
        for (Index i = 0; i < length; ++i) {
          parts[i] = numbers[2 * i];
          parts[split_rows + i] = numbers[2 * i + 1];
        }
        re[static_cast<std::size_t>(k)] = parts;
        im[static_cast<std::size_t>(k)] = parts + split_rows;
      }
      tiles(re, im, length);
    }
  } else {
    re.assign(X.begin(), X.end());
    tiles(re, im, rows);
  }
  for (int q = 0; q < m; ++q) {
    G[q + q * m] = T(real_part(G[q + q * m]));
    for (int p = 0; p < q; ++p) {
      G[q + p * m] = conjugate(G[p + q * m]);
    }
  }
}

// X = X Q.
template <Scalar T, bool portable>
void rotate_columns(const std::vector<T*>& X, Index rows, const T* Q, Desk<T>& desk) {
  using R = Real<T>;
  constexpr int parts = is_complex<T> ? 2 : 1;
  constexpr int at_once = columns_at_once<T>;
  constexpr Index chunk = rotated_at_once<T>;
  const int m = static_cast<int>(X.size());
  const int panels = (m + at_once - 1) / at_once;
  for (int panel = 0; panel < panels; ++panel) {
    R* const packed = desk.packed.data() + static_cast<std::ptrdiff_t>(panel) * m * at_once * parts;
    for (int k = 0; k < m; ++k) {
      for (int q = 0; q < at_once; ++q) {
        const int j = panel * at_once + q;
        const T value = j < m ? Q[k + j * m] : T(0);
        if constexpr (is_complex<T>) {
          packed[2 * (k * at_once + q)] = value.real();
          packed[2 * (k * at_once + q) + 1] = value.imag();
        } else {
          packed[k * at_once + q] = value;
        }
      }
    }
  }
  R* const spare = desk.rows.data() + static_cast<std::ptrdiff_t>(parts) * m * chunk;
  for (Index begin = 0; begin < rows; begin += chunk) {
    for (int k = 0; k < m; ++k) {
      R* const buffer = desk.rows.data() + static_cast<std::ptrdiff_t>(parts) * k * chunk;
      if constexpr (is_complex<T>) {
        const R* const numbers = reinterpret_cast<const R*>(X[static_cast<std::size_t>(k)] + begin);
#pragma GCC ivdep
        for (Index i = 0; i < chunk; ++i) {
          buffer[i] = numbers[2 * i];
          buffer[chunk + i] = numbers[2 * i + 1];
        }
      } else {
        std::memcpy(buffer, X[static_cast<std::size_t>(k)] + begin, static_cast<std::size_t>(chunk) * sizeof(T));
      }
    }
    for (int panel = 0; panel < panels; ++panel) {
      const R* const packed = desk.packed.data() + static_cast<std::ptrdiff_t>(panel) * m * at_once * parts;
      std::array<R*, static_cast<std::size_t>(at_once)> out{};
      std::array<R*, static_cast<std::size_t>(at_once)> out_im{};
      for (int q = 0; q < at_once; ++q) {
        const int j = panel * at_once + q;
        const auto slot = static_cast<std::size_t>(q);
        out_im[slot] = spare + (parts * q + 1) * chunk;
        out[slot] = spare + parts * q * chunk;
        if constexpr (!is_complex<T>) {
          if (j < m) {
            out[slot] = X[static_cast<std::size_t>(j)] + begin;
          }
        }
      }
      rotated_rows<T, portable>(desk.rows.data(), packed, m, out, out_im);
      if constexpr (is_complex<T>) {
        for (int q = 0; q < at_once && panel * at_once + q < m; ++q) {
          const int j = panel * at_once + q;
          R* const numbers = reinterpret_cast<R*>(X[static_cast<std::size_t>(j)] + begin);
          const R* const from = out[static_cast<std::size_t>(q)];
          const R* const from_im = out_im[static_cast<std::size_t>(q)];
#pragma GCC ivdep
          for (Index i = 0; i < chunk; ++i) {
            numbers[2 * i] = from[i];
            numbers[2 * i + 1] = from_im[i];
          }
        }
      }
    }
  }
}

// The columns of a pair of blocks made orthogonal: `rows` rows have a part in inner products, `all_rows` are turned.
template <Scalar T, bool portable, class Team>
SweepCounts<Real<T>> rotate_pair(const Team& team, const std::vector<T*>& X, Index rows, Index all_rows,
                                 Real<T> tolerance, Desk<T>& desk) {
  const int block = static_cast<int>(X.size() / 2);
  SmallProblem<T> problem = SmallProblem<T>::in(desk.small.data(), block);
  gram<T, portable>(X, rows, desk, problem.from);
  const Criterion<Real<T>> criterion{tolerance, tolerance, Real<T>(0), true};
  problem.begin(team);
  const SweepCounts<Real<T>> found = block == 8    ? problem.template sweep<8>(team, criterion)
                                     : block == 16 ? problem.template sweep<16>(team, criterion)
                                                   : problem.template sweep<0>(team, criterion);
  if (found.rotations > 0) {
    rotate_columns<T, portable>(X, all_rows, problem.Q, desk);
  }
  return found;
}

// The same with bits of any processor, if `portable` or if that is no slower.
template <Scalar T, class Team>
SweepCounts<Real<T>> rotate_pair(const Team& team, const std::vector<T*>& X, Index rows, Index all_rows,
                                 Real<T> tolerance, [[maybe_unused]] bool portable, Desk<T>& desk) {
  if constexpr (!is_portable) {
    if (!portable) {
      return rotate_pair<T, false>(team, X, rows, all_rows, tolerance, desk);
    }
  }
  return rotate_pair<T, true>(team, X, rows, all_rows, tolerance, desk);
}

using PairTeams = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>>;

// Block columns as a kernel sees them.
template <Scalar T> struct Blocks {
  T* data;
  Index leading;
  int block;
  int blocks;

  void columns(int matrix, int first, int second, std::vector<T*>& X) const {
    X.clear();
    for (const int at : {first, second}) {
      for (int j = 0; j < block; ++j) {
        X.push_back(data + ((static_cast<Index>(matrix) * blocks + at) * block + j) * leading);
      }
    }
  }
};

}  // namespace

template <Scalar T> void BlockColumns<T>::choose(const std::vector<int>& matrices) {
  chosen_ = matrices;
}

template <Scalar T> void BlockColumns<T>::step(const BlockPairs& order, R tolerance) {
  Work& work = *work_;
  const std::vector<int>& chosen = chosen_;
  const Blocks<T> blocks{memory_.data(), leading(), block_, blocks_};
  const Index rows = padded_rows_;
  const int matrices = static_cast<int>(chosen.size());
  Kokkos::parallel_for("heddle::eigen::block_pairs", PairTeams(space_, matrices * order.pairs, 1),
                       [&work, &chosen, order, tolerance, blocks, rows](const typename PairTeams::member_type& team) {
                         const int token = work.tokens.acquire();
                         const int matrix = chosen[static_cast<std::size_t>(team.league_rank() / order.pairs)];
                         const int k = team.league_rank() % order.pairs;
                         std::vector<T*> X;
                         blocks.columns(matrix, order.first(k), order.second(k), X);
                         work.counts[static_cast<std::size_t>(matrix * (blocks.blocks / 2) + k)] +=
                             rotate_pair<T>(team, X, rows, blocks.leading, tolerance, work.portable,
                                            work.desks[static_cast<std::size_t>(token)]);
                         work.tokens.release(token);
                       });
}

template <Scalar T> void BlockColumns<T>::all_steps(R tolerance) {
  const int pairs = blocks_ / 2;
  const int matrices = static_cast<int>(chosen_.size());
  if (matrices < work_->tokens.size()) {
    for (int at = 0; at < blocks_ - 1; ++at) {
      step({pairs, at}, tolerance);
    }
    return;
  }
  // If there are enough matrices, each stays with one thread, and in its cache.
  Work& work = *work_;
  const std::vector<int>& chosen = chosen_;
  const Blocks<T> blocks{memory_.data(), leading(), block_, blocks_};
  const Index rows = padded_rows_;
  Kokkos::parallel_for("heddle::eigen::block_sweeps", PairTeams(space_, matrices, 1),
                       [&work, &chosen, pairs, tolerance, blocks, rows](const typename PairTeams::member_type& team) {
                         const int token = work.tokens.acquire();
                         const int matrix = chosen[static_cast<std::size_t>(team.league_rank())];
                         std::vector<T*> X;
                         SweepCounts<R> found;
                         for (int at = 0; at < 2 * pairs - 1; ++at) {
                           const BlockPairs order{pairs, at};
                           for (int k = 0; k < pairs; ++k) {
                             blocks.columns(matrix, order.first(k), order.second(k), X);
                             found += rotate_pair<T>(team, X, rows, blocks.leading, tolerance, work.portable,
                                                     work.desks[static_cast<std::size_t>(token)]);
                           }
                         }
                         work.counts[static_cast<std::size_t>(matrix * pairs)] += found;
                         work.tokens.release(token);
                       });
}

template <Scalar T> auto BlockColumns<T>::counts_of_each() -> std::vector<SweepCounts<R>> {
  space_.fence("heddle::eigen::counts");
  std::vector<SweepCounts<R>> each(memory_.extent(2));
  const auto pairs = static_cast<std::size_t>(blocks_ / 2);
  for (std::size_t pair = 0; pair < work_->counts.size(); ++pair) {
    each[pair / pairs] += work_->counts[pair];
    work_->counts[pair] = {};
  }
  return each;
}

#define HEDDLE_INSTANTIATE(T) template class BlockColumns<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
