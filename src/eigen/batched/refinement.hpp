// Approximate eigenvectors of many Hermitian matrices made right to working precision, all by products of matrices: X
// gives way to X + X E, with E from X^H X and X^H A X (T. Ogita, K. Aishima, Japan J. Indust. Appl. Math. 35, 1007,
// 2018). Quadratic: what is wrong by e is then wrong by e^2 over the share that a gap between eigenvalues has of |A|.
#pragma once

#include "eigen/batched/reflectors.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace heddle::eigen::impl {

/// Sizes that a step finds for one matrix: R = I - X^H X, and E is the correction.
template <class R> struct Correction {
  R top = 0;       ///< The largest |e_ij|.
  R rest = 0;      ///< The largest 2-norm of a column of E without its largest element.
  R apart = 0;     ///< The largest |r_ij|.
  R squares = 0;   ///< The sum of |r_ij|^2 above the diagonal.
  R cubic = 0;     ///< The largest |e_ij|^2 times what it corrects, over |A|.
  R norm = 0;      ///< |A|, by the largest eigenvalue.
  R least = 0;     ///< The least eigenvalue.
  int left = 0;    ///< Columns whose pairs with some others are not turned: off the diagonal, too large for their gaps.
  int finite = 0;  ///< Whether all elements are numbers.

  /// Whether elements of X + X E, but for lengths of columns, are orthonormal to a quarter of the tolerance, and leave
  /// five times that of |A| off the diagonal, pairs in `left` excepted. (X + X E)^H (X + X E) = I + E^H E - R E - E^H R
  /// - E^H R E, since e_ij + conj(e_ji) = r_ij. If the largest elements of columns i and j of E are in one row k,
  ///   column k has two that are nearly as large, so that the smaller of them is no larger than `rest` and `apart`
  ///   together; elsewhere the largest one of a column meets a smaller one. So |E^H E|_ij <= top (3 rest + apart) +
  ///   rest^2 beside the diagonal, and |R E|_ij <= apart top + |R|_F rest. The elements of A off the diagonal are
  ///   bounded by the same times 5 |A|.
  [[nodiscard]] bool ends(R tolerance) const {
    const R together = 3 * top * (rest + apart) + rest * (rest + 2 * std::sqrt(2 * squares));
    return finite != 0 && top < R(0.0625) && together <= tolerance / 4 && cubic <= tolerance / 4;
  }
};

/// The pairs of a column that are not turned.
struct Partners {
  int count = 0;
  int last = 0;  ///< One of the other columns.
};

/// Workspace of the steps, for matrices in places 0 ... count - 1; n x n each.
template <Scalar T> struct Refinement {
  using R = Real<T>;

  int n;
  Matrices<T> A;
  Matrices<T> X;
  Matrices<T> E;  ///< A X before; may have more rows.
  Matrices<T> G;  ///< The upper triangle of X^H X.
  Matrices<T> S;  ///< That of X^H A X; then X E.
  Vectors<R> w;   ///< The eigenvalues, n x count.
  Values<Correction<R>> found;
  Vectors<Partners> partners;
  Values<int> close;  ///< Whether columns are made orthonormal alone, since some pair is too close to be turned.

  static Index bytes_of_one(Index n) { return 2 * n * n * static_cast<Index>(sizeof(T)); }
  /// A, X and E are the caller's; E may have more rows than n.
  Refinement(const Scratch& scratch, const Matrices<T>& matrices, const Matrices<T>& vectors,
             const Matrices<T>& corrections)
      : n(static_cast<int>(matrices.extent(0))), A(matrices), X(vectors), E(corrections) {
    const std::size_t count = matrices.extent(2);
    G = scratch.shaped<Matrices<T>>("heddle::eigen::inner_products", n, n, count);
    S = scratch.shaped<Matrices<T>>("heddle::eigen::transformed", n, n, count);
    w = scratch.shaped<Vectors<R>>("heddle::eigen::values", n, count);
    found = scratch.values<Correction<R>>("heddle::eigen::corrections", count);
    partners = scratch.shaped<Vectors<Partners>>("heddle::eigen::partners", n, count);
    close = scratch.values<int>("heddle::eigen::close", count);
  }

  /// Elements of X^H A X up to so much of |A| are no reason to turn a pair: a quarter of the tolerance.
  [[nodiscard]] static R small_share(R tolerance) { return tolerance / 4; }
  /// Pairs are turned by so much at most, but for those of TurnPartners.
  static constexpr R largest_turn = R(0.0625);
};

/// Rayleigh quotients w_j = s_jj / g_jj, and |A| by them.
template <Scalar T> struct FindQuotients {
  using R = Real<T>;
  Refinement<T> work;
  Values<int> chosen;
  KOKKOS_INLINE_FUNCTION void operator()(const MatrixTeam& team) const {
    const int slot = chosen(team.league_rank());
    R norm = 0;
    R least = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, work.n),
        [&](int j, R& most, R& lowest) {
          const R value = real_part(work.S(j, j, slot)) / real_part(work.G(j, j, slot));
          work.w(j, slot) = value;
          work.partners(j, slot) = {};
          most = Kokkos::fmax(most, Kokkos::abs(value));
          lowest = Kokkos::fmin(lowest, value);
        },
        Kokkos::Max<R>(norm), Kokkos::Min<R>(least));
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      work.found(slot) = {};
      work.found(slot).norm = norm;
      work.found(slot).least = least;
    });
  }
};

/// e_ij and e_ji, for i < j, and what is to be known of the pair.
template <Scalar T> struct PairCorrection {
  using R = Real<T>;
  T above = T(0);
  T below = T(0);
  R cubic = 0;
  bool left = false;  ///< Whether it is not turned, since that would be too much.

  /// inner: g_ij; transformed: s_ij; wi and wj: Rayleigh quotients.
  KOKKOS_INLINE_FUNCTION PairCorrection(const T& inner, const T& transformed, R wi, R wj, R norm, R small, R largest) {
    const T r = -inner;
    const T off = transformed + wj * r;
    const R size = magnitude(off);
    const R gap = wj - wi;
    // One triangle decides for both, so that e_ij + conj(e_ji) = r_ij whatever is rounded. With half of that each, the
    // element becomes s_ij + (w_i + w_j) r_ij / 2.
    above = r * R(0.5);
    if (size + Kokkos::abs(gap) * magnitude(above) > small * norm) {
      left = size > largest * Kokkos::abs(gap);
      if (!left && size > 0) {
        // By the tangent of the rotation that makes the element zero, since columns get length 1.
        const R cotangent = gap / (2 * size);
        const R turn = 1 / (Kokkos::abs(cotangent) + Kokkos::sqrt(1 + cotangent * cotangent));
        above = off * (Kokkos::copysign(turn, gap) / size);
        cubic = turn * turn * size / norm;
      } else if (!left) {
        above = T(0);
      }
    }
    below = conjugate(T(r - above));
  }
};

template <Scalar T> struct FindCorrections {
  using R = Real<T>;
  static constexpr int side = columns_of_team;
  static constexpr int pitch = side + 1;
  static constexpr int bytes = side * pitch * static_cast<int>(sizeof(T));
  Refinement<T> work;
  Values<int> chosen;
  R small;
  int tiles;
  KOKKOS_INLINE_FUNCTION void operator()(const MatrixTeam& team) const {
    const int n = work.n;
    const int slot = chosen(team.league_rank() / tiles);
    const int first_column = team.league_rank() % tiles * side;
    T* const mirrored = static_cast<T*>(team.team_scratch(0).get_shmem(int{bytes}));
    const R norm = work.found(slot).norm;
    const R least = work.close(slot) != 0 ? Kokkos::Experimental::infinity_v<R> : small;
    Correction<R> mine;
    for (int first_row = 0; first_row <= first_column; first_row += side) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, side * side), [&](int element) {
        const int row = element % side;
        const int column = element / side;
        const int i = first_row + row;
        const int j = first_column + column;
        if (j >= n || i > j) {
          return;
        }
        const T inner = work.G(i, j, slot);
        if (i == j) {
          const R r = 1 - real_part(inner);
          work.E(i, j, slot) = T(r / 2);
          mine.apart = Kokkos::fmax(mine.apart, Kokkos::abs(r));
          return;
        }
        const PairCorrection<T> pair(inner, work.S(i, j, slot), work.w(i, slot), work.w(j, slot), norm, least,
                                     Refinement<T>::largest_turn);
        work.E(i, j, slot) = pair.above;
        mirrored[row * pitch + column] = pair.below;
        mine.apart = Kokkos::fmax(mine.apart, magnitude(inner));
        mine.squares += square_of_size(inner);
        if (pair.left) {
          Kokkos::atomic_inc(&work.partners(i, slot).count);
          Kokkos::atomic_inc(&work.partners(j, slot).count);
          work.partners(i, slot).last = j;
          work.partners(j, slot).last = i;
        }
        mine.cubic = Kokkos::fmax(mine.cubic, pair.cubic);
      });
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, side * side), [&](int element) {
        const int row = element / side;
        const int column = element % side;
        const int i = first_row + row;
        const int j = first_column + column;
        if (j < n && i < j) {
          work.E(j, i, slot) = mirrored[row * pitch + column];
        }
      });
      team.team_barrier();
    }
    // On a GPU one element for each thread of the team; on a CPU the team is one thread.
    Correction<R> all;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, heddle::impl::on_host ? 1 : team_threads),
        [&](int, R& apart, R& squares, R& cubic) {
          apart = Kokkos::fmax(apart, mine.apart);
          squares += mine.squares;
          cubic = Kokkos::fmax(cubic, mine.cubic);
        },
        Kokkos::Max<R>(all.apart), Kokkos::Sum<R>(all.squares), Kokkos::Max<R>(all.cubic));
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      Correction<R>& found = work.found(slot);
      Kokkos::atomic_max(&found.apart, all.apart);
      Kokkos::atomic_add(&found.squares, all.squares);
      Kokkos::atomic_max(&found.cubic, all.cubic);
    });
  }
};

/// E of each chosen matrix, by tiles, each with the one that mirrors it; a team has a column of tiles.
template <Scalar T>
void find_corrections(const ExecutionSpace& space, const Refinement<T>& work, const Values<int>& chosen,
                      Real<T> small) {
  constexpr int side = FindCorrections<T>::side;
  const int tiles = (work.n + side - 1) / side;
  MatrixTeams teams = teams_by_columns(space, static_cast<int>(chosen.extent(0)), work.n);
  Kokkos::parallel_for("heddle::eigen::corrections",
                       teams.set_scratch_size(0, Kokkos::PerTeam(FindCorrections<T>::bytes + 64)),
                       FindCorrections<T>{work, chosen, small, tiles});
}

/// Turns pairs that were left, where each of the two columns was left with one or two and names the other one. Within
/// larger clusters such turns would be of noise, or undo one another: those stay left.
template <Scalar T> struct TurnPartners {
  using R = Real<T>;
  Refinement<T> work;
  Values<int> chosen;
  KOKKOS_INLINE_FUNCTION void operator()(const MatrixTeam& team) const {
    const int slot = chosen(team.league_rank());
    const R norm = work.found(slot).norm;
    int left = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, work.n),
        [&](int j, int& count) {
          const Partners mine = work.partners(j, slot);
          if (mine.count == 0) {
            return;
          }
          const int i = mine.last;
          const Partners other = work.partners(i, slot);
          const bool is_turned = mine.count <= 2 && other.count <= 2 && other.last == j;
          count += is_turned && mine.count == 1 ? 0 : 1;
          if (is_turned && i < j) {
            const PairCorrection<T> pair(work.G(i, j, slot), work.S(i, j, slot), work.w(i, slot), work.w(j, slot), norm,
                                         R(0), Kokkos::Experimental::infinity_v<R>);
            work.E(i, j, slot) = pair.above;
            work.E(j, i, slot) = pair.below;
          }
        },
        left);
    Kokkos::single(Kokkos::PerTeam(team), [&] { work.found(slot).left = left; });
  }
};

/// How large E is.
template <Scalar T> struct SizeCorrections {
  using R = Real<T>;
  Refinement<T> work;
  Values<int> chosen;
  KOKKOS_INLINE_FUNCTION void operator()(const MatrixTeam& team) const {
    const int n = work.n;
    const int slot = chosen(team.league_rank());
    R top = 0;
    R rest = 0;
    R sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, n),
        [&](int j, R& most, R& most_rest, R& all) {
          R largest = 0;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(team, n),
              [&](int i, R& here) { here = Kokkos::fmax(here, magnitude(work.E(i, j, slot))); },
              Kokkos::Max<R>(largest));
          R squares = 0;
          R as_large = 0;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(team, n),
              [&](int i, R& smaller, R& equal) {
                const R size = magnitude(work.E(i, j, slot));
                smaller += size == largest ? R(0) : size * size;
                equal += size == largest ? R(1) : R(0);
              },
              Kokkos::Sum<R>(squares), Kokkos::Sum<R>(as_large));
          squares += (as_large - 1) * largest * largest;
          most = Kokkos::fmax(most, largest);
          most_rest = Kokkos::fmax(most_rest, Kokkos::sqrt(squares));
          all += largest + squares;
        },
        Kokkos::Max<R>(top), Kokkos::Max<R>(rest), Kokkos::Sum<R>(sum));
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      Correction<R>& mine = work.found(slot);
      mine.top = top;
      mine.rest = rest;
      mine.finite = Kokkos::isfinite(sum) && Kokkos::isfinite(mine.norm) ? 1 : 0;
    });
  }
};

template <Scalar T> struct CorrectValue {
  using R = Real<T>;
  Refinement<T> work;
  Values<int> chosen;
  Values<R> next;
  KOKKOS_INLINE_FUNCTION void operator()(const MatrixTeam& team, int at, int j) const {
    const int n = work.n;
    const int slot = chosen(at);
    const R value = work.w(j, slot);
    R more = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, n),
        [&](int i, R& sum) { sum += i == j ? R(0) : square_of_size(work.E(i, j, slot)) * (value - work.w(i, slot)); },
        more);
    Kokkos::single(Kokkos::PerThread(team), [&] { next(at * n + j) = value + more; });
  }
};

template <Scalar T> struct TakeValue {
  Refinement<T> work;
  Values<int> chosen;
  Values<Real<T>> next;
  KOKKOS_INLINE_FUNCTION void operator()(int at) const { work.w(at % work.n, chosen(at / work.n)) = next(at); }
};

/// w_j + sum over i of |e_ij|^2 (w_j - w_i): eigenvalues to the third power of what the vectors lack.
template <Scalar T> void correct_values(const Scratch& scratch, const Refinement<T>& work, const Values<int>& chosen) {
  const ExecutionSpace& space = scratch.space();
  const int n = work.n;
  const auto next = scratch.values<Real<T>>("heddle::eigen::next_values", chosen.extent(0) * work.w.extent(0));
  for_each_column(space, "heddle::eigen::correct_values", static_cast<int>(chosen.extent(0)), n,
                  CorrectValue<T>{work, chosen, next});
  Kokkos::parallel_for("heddle::eigen::corrected_values",
                       Kokkos::RangePolicy<ExecutionSpace>(space, 0, static_cast<int>(chosen.extent(0)) * n),
                       TakeValue<T>{work, chosen, next});
}

template <Scalar T> struct AddCorrection {
  using R = Real<T>;
  Refinement<T> work;
  Values<int> chosen;
  Matrices<T> to;
  KOKKOS_INLINE_FUNCTION void operator()(const MatrixTeam& team, int at, int j) const {
    const int n = work.n;
    const int slot = chosen(at);
    R square = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, n),
        [&](int i, R& sum) {
          const T element = work.X(i, j, slot) + work.S(i, j, slot);
          to(i, j, slot) = element;
          sum += square_of_size(element);
        },
        square);
    const R factor = 1 / Kokkos::sqrt(square);
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](int i) { to(i, j, slot) *= factor; });
  }
};

/// to = X + S, S = X E, for the chosen matrices, with columns of length 1.
template <Scalar T>
void add_corrections(const ExecutionSpace& space, const Refinement<T>& work, const Values<int>& chosen,
                     const Matrices<T>& to) {
  for_each_column(space, "heddle::eigen::add_corrections", static_cast<int>(chosen.extent(0)), work.n,
                  AddCorrection<T>{work, chosen, to});
}

/// How the chosen matrices' vectors end.
struct Refined {
  std::vector<int> right;        ///< Eigenvectors: in E, their eigenvalues in w.
  std::vector<int> orthonormal;  ///< Orthonormal, in X; some pairs are to be rotated yet.
  std::vector<int> lost;         ///< Of no use.
};

/// Steps until each of the chosen matrices has ended. products.whole(A, B, C, chosen, numbers) gives C = A B of those,
/// whose numbers are on the device and on the host, and products.upper() the upper triangle of C = A^H B, at least.
/// Blocks. Cost: 6.5 to 8 n^3 flops a step (four times that for complex T); two to five steps, seven at most.
template <Scalar T, class Products>
Refined refine(const Scratch& scratch, const Refinement<T>& work, std::vector<int> chosen, Real<T> tolerance,
               const Products& products) {
  using R = Real<T>;
  const ExecutionSpace& space = scratch.space();
  constexpr int most_steps = 7;
  Refined result;
  std::vector<int> close(work.close.extent(0), 0);
  for (int step = 0; !chosen.empty(); ++step) {
    Kokkos::deep_copy(space, work.close, Kokkos::View<const int*, Kokkos::HostSpace>(close.data(), close.size()));
    const Values<int> here = on_device(scratch, "heddle::eigen::chosen", chosen);
    products.upper(work.X, work.X, work.G, here, chosen);
    products.whole(work.A, work.X, work.E, here, chosen);
    products.upper(work.X, work.E, work.S, here, chosen);
    const MatrixTeams teams = matrix_teams(space, static_cast<int>(here.extent(0)));
    Kokkos::parallel_for("heddle::eigen::quotients", teams, FindQuotients<T>{work, here});
    find_corrections<T>(space, work, here, Refinement<T>::small_share(tolerance));
    Kokkos::parallel_for("heddle::eigen::turn_partners", teams, TurnPartners<T>{work, here});
    Kokkos::parallel_for("heddle::eigen::sizes_of_corrections", teams, SizeCorrections<T>{work, here});
    products.whole(work.X, work.E, work.S, here, chosen);
    const std::vector<Correction<R>> found = to_host(space, "heddle::eigen::corrections", work.found);
    std::vector<int> right;
    std::vector<int> others;
    std::vector<int> next;
    for (const int slot : chosen) {
      const Correction<R>& correction = found[static_cast<std::size_t>(slot)];
      const bool ends = correction.ends(tolerance);
      int& is_close = close[static_cast<std::size_t>(slot)];
      if (ends && is_close == 0 && correction.left == 0) {
        right.push_back(slot);
      } else if (ends) {
        others.push_back(slot);
        result.orthonormal.push_back(slot);
      } else if (correction.finite != 0 && correction.apart <= R(0.25) && step + 1 < most_steps) {
        others.push_back(slot);
        next.push_back(slot);
        // Pairs that the first three steps leave do not count: errors of others may have hidden them.
        is_close = is_close != 0 || (step > 2 && correction.left > 0) ? 1 : 0;
      } else {
        result.lost.push_back(slot);
      }
    }
    if (!right.empty()) {
      const Values<int> ended = on_device(scratch, "heddle::eigen::chosen", right);
      correct_values<T>(scratch, work, ended);
      add_corrections<T>(space, work, ended, work.E);
      result.right.insert(result.right.end(), right.begin(), right.end());
    }
    if (!others.empty()) {
      add_corrections<T>(space, work, on_device(scratch, "heddle::eigen::chosen", others), work.X);
    }
    chosen = next;
  }
  return result;
}

}  // namespace heddle::eigen::impl
