// A pair of blocks is the work of one thread: inner products, their eigenproblem and the rotations follow one another
// while the columns are in its cache.
#include "core/instantiate.hpp"
#include "eigen/dense/columns.hpp"
#include "eigen/dense/small.hpp"
#include "eigen/simd/lanes.hpp"

#include <algorithm>
#include <vector>

namespace heddle::eigen::impl {
namespace {

// What one thread needs.
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
  std::vector<SweepCounts<R>> counts;  // Of each desk.
  Kokkos::Experimental::UniqueToken<ExecutionSpace> tokens;
};

template <Scalar T>
BlockColumns<T>::BlockColumns(const ExecutionSpace& space, Index rows, Index columns, int block)
    : space_(space), rows_(rows), columns_(columns), work_(std::make_unique<Work>()) {
  // 2 block columns of 2,000 doubles fill a second cache.
  block_ = block > 0 ? block : columns >= 768 ? 16 : 8;
  const Index two = Index{2} * block_;
  blocks_ = static_cast<int>(std::max<Index>(2, (columns + two - 1) / two * 2));
  Index padded = (rows + row_multiple<T> - 1) / row_multiple<T> * row_multiple<T>;
  // Columns a multiple of 4096 bytes apart would share the sets of the first cache.
  while (padded * static_cast<Index>(sizeof(T)) % 4096 < 256) {
    padded += row_multiple<T>;
  }
  memory_ = Dense<T>(Kokkos::view_alloc(space, "heddle::eigen::columns"), static_cast<std::size_t>(padded),
                     static_cast<std::size_t>(blocks_) * static_cast<std::size_t>(block_));
  const auto m = static_cast<std::size_t>(two);
  constexpr std::size_t parts = is_complex<T> ? 2 : 1;
  constexpr auto at_once = static_cast<std::size_t>(columns_at_once<T>);
  work_->desks.resize(static_cast<std::size_t>(work_->tokens.size()));
  work_->counts.resize(work_->desks.size());
  for (Desk<T>& desk : work_->desks) {
    desk.small.resize(SmallProblem<T>::bytes(block_));
    desk.packed.resize(parts * (m + at_once) * m);
    desk.rows.resize(parts * (m + at_once) * static_cast<std::size_t>(row_multiple<T>));
    if (is_complex<T>) {
      desk.split.resize(2 * m * static_cast<std::size_t>(split_rows));
    }
  }
}
template <Scalar T> BlockColumns<T>::~BlockColumns() = default;

namespace {

// G = X^H X, both triangles.
template <Scalar T> void gram(const std::vector<T*>& X, Index rows, Desk<T>& desk, T* G) {
  using R = Real<T>;
  const int m = static_cast<int>(X.size());
  constexpr int M = has_many_registers ? 4 : 2;
  constexpr int N = is_complex<T> ? 2 : 4;
  static_assert(N % M == 0 || M % N == 0);
  constexpr int larger = M > N ? M : N;
  const int whole = m / larger * larger;
  std::fill_n(G, static_cast<std::size_t>(m) * static_cast<std::size_t>(m), T(0));
  const auto tiles = [&](const std::vector<const R*>& re, const std::vector<const R*>& im, Index length) {
    for (int q = 0; q < whole; q += N) {
      for (int p = 0; p < q + N; p += M) {
        inner_products<T, M, N>(re.data() + p, im.data() + p, re.data() + q, im.data() + q, length, G + p + q * m, m);
      }
    }
    for (int q = whole; q < m; ++q) {
      for (int p = 0; p <= q; ++p) {
        inner_products<T, 1, 1>(re.data() + p, im.data() + p, re.data() + q, im.data() + q, length, G + p + q * m, m);
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
template <Scalar T> void rotate_columns(const std::vector<T*>& X, Index rows, const T* Q, Desk<T>& desk) {
  using R = Real<T>;
  constexpr int parts = is_complex<T> ? 2 : 1;
  constexpr int at_once = columns_at_once<T>;
  constexpr Index chunk = row_multiple<T>;
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
      rotated_rows<T>(desk.rows.data(), packed, m, out, out_im);
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

}  // namespace

template <Scalar T> void BlockColumns<T>::step(const BlockPairs& order, R tolerance) {
  using Teams = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>>;
  Work& work = *work_;
  const int block = block_;
  const Index rows = padded_rows();
  T* const data = memory_.data();
  Kokkos::parallel_for("heddle::eigen::block_pairs", Teams(space_, order.pairs, 1),
                       [&work, order, tolerance, block, rows, data](const typename Teams::member_type& team) {
                         const int token = work.tokens.acquire();
                         const auto number = static_cast<std::size_t>(token);
                         Desk<T>& desk = work.desks[number];
                         const int k = team.league_rank();
                         std::vector<T*> X;
                         for (const int at : {order.first(k), order.second(k)}) {
                           for (int j = 0; j < block; ++j) {
                             X.push_back(data + (static_cast<Index>(at) * block + j) * rows);
                           }
                         }
                         SmallProblem<T> problem = SmallProblem<T>::in(desk.small.data(), block);
                         gram<T>(X, rows, desk, problem.from);
                         const Criterion<R> criterion{tolerance, tolerance, R(0), true};
                         problem.begin(team);
                         const SweepCounts<R> found = block == 8    ? problem.template sweep<8>(team, criterion)
                                                      : block == 16 ? problem.template sweep<16>(team, criterion)
                                                                    : problem.template sweep<0>(team, criterion);
                         if (found.rotations > 0) {
                           rotate_columns<T>(X, rows, problem.Q, desk);
                         }
                         work.counts[number] += found;
                         work.tokens.release(token);
                       });
}

template <Scalar T> auto BlockColumns<T>::counts() -> SweepCounts<R> {
  space_.fence("heddle::eigen::counts");
  SweepCounts<R> all;
  for (SweepCounts<R>& counts : work_->counts) {
    all += counts;
    counts = {};
  }
  return all;
}

#define HEDDLE_INSTANTIATE(T) template class BlockColumns<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
