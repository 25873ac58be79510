// Eigenvectors of many Hermitian matrices by tridiagonalisation and implicit QL: the start of column rotations, which
// correct them. Only the orthogonality of the vectors has to be accurate.
#pragma once

#include "eigen/batched/reflectors.hpp"

namespace heddle::eigen::impl {

/// The matrices of a group, and vectors to begin at.
template <Scalar T> struct Beginning {
  /// Rows that a thread turns: vectors of them on CPUs.
  static constexpr int rows_at_once = heddle::impl::on_host ? 128 / static_cast<int>(sizeof(T)) : 1;

  Matrices<T> W;  ///< n x n each.
  Matrices<T> Q;  ///< The same, in a multiple of rows_at_once rows.

  Beginning(const Scratch& scratch, int n, int count) {
    // An odd number of bands keeps columns from sharing the sets of a CPU's L1 cache.
    const int bands = (n + rows_at_once - 1) / rows_at_once;
    const int leading = heddle::impl::on_host ? (bands | 1) * rows_at_once : n;
    W = scratch.shaped<Matrices<T>>("heddle::eigen::reflections", n, n, count);
    Q = scratch.shaped<Matrices<T>>("heddle::eigen::first_vectors", leading, n, count);
  }
};

/// Workspace for the tridiagonalisation of a group of matrices.
template <Scalar T> struct Tridiagonals {
  using R = Real<T>;
  /// Chases of QL whose rotations are kept before vectors are turned by them, and those that turn them together.
  static constexpr int chases = 32;
  static constexpr int together = heddle::impl::on_host ? 1 : 8;
  static_assert(chases % together == 0);
  static constexpr int rows_at_once = Beginning<T>::rows_at_once;

  int n;
  Matrices<T> W;    ///< The matrices; then the reflections.
  Matrices<T> Q;    ///< The eigenvectors in the end.
  Vectors<T> tau;   ///< n x count
  Vectors<R> d;     ///< The diagonals, n x count
  Vectors<R> e;     ///< What is below them
  Values<R> bound;  ///< No eigenvalue is larger.
  /// Cosines and sines of chase t in columns i and i + 1 at (t, i + chases): identities beside those that are there.
  Matrices<R> cosines;
  Matrices<R> sines;
  Kokkos::View<int* [2], MemorySpace> state;  ///< The first eigenvalue that is not found, and its chases.
  Kokkos::View<int** [2], Kokkos::LayoutLeft, MemorySpace> ranges;  ///< The first and last column of each chase.

  static Index bytes_of_one(Index n) {
    return n * (2 * n * static_cast<Index>(sizeof(T)) + 2 * chases * static_cast<Index>(sizeof(R)));
  }
  Tridiagonals(const Scratch& scratch, const Beginning<T>& of) : n(static_cast<int>(of.W.extent(0))), W(of.W), Q(of.Q) {
    const std::size_t count = W.extent(2);
    tau = scratch.shaped<Vectors<T>>("heddle::eigen::tau", n, count);
    d = scratch.shaped<Vectors<R>>("heddle::eigen::diagonals", n, count);
    e = scratch.shaped<Vectors<R>>("heddle::eigen::beside", n, count);
    bound = scratch.values<R>("heddle::eigen::bounds", count);
    cosines = scratch.shaped<Matrices<R>>("heddle::eigen::cosines", chases, n + 2 * chases, count);
    sines = scratch.shaped<Matrices<R>>("heddle::eigen::sines", chases, n + 2 * chases, count);
    const auto with = [&](const char* label) {
      return Kokkos::view_alloc(scratch.space(), Kokkos::WithoutInitializing, std::string(label));
    };
    ranges = Kokkos::View<int** [2], Kokkos::LayoutLeft, MemorySpace>(with("heddle::eigen::ranges"), chases, count);
    state = Kokkos::View<int* [2], MemorySpace>(with("heddle::eigen::state"), count);
  }
};

/// The last element of a tridiagonal matrix, of which A - v w^H - w v^H has it, and the bound of its eigenvalues.
template <Scalar T>
KOKKOS_INLINE_FUNCTION void end_tridiagonal(const Tridiagonals<T>& work, int slot, const T* v, const T* w) {
  using R = Real<T>;
  const int n = work.n;
  const R last = n > 1 ? 2 * real_part(v[n - 1] * conjugate(w[n - 1])) : R(0);
  work.d(n - 1, slot) = real_part(work.W(n - 1, n - 1, slot)) - last;
  work.e(n - 1, slot) = 0;
  R most = 0;
  for (int k = 0; k < n; ++k) {
    const R beside = Kokkos::abs(work.e(k, slot)) + (k > 0 ? Kokkos::abs(work.e(k - 1, slot)) : R(0));
    most = Kokkos::fmax(most, Kokkos::abs(work.d(k, slot)) + beside);
  }
  work.bound(slot) = most;
  work.state(slot, 0) = 0;
  work.state(slot, 1) = 0;
}

/// T = Q^H A Q, of the matrices in W, both triangles. The update of a step and the product of the next one read a
/// matrix once.
template <Scalar T>
void tridiagonalise(const ExecutionSpace& space, const Tridiagonals<T>& work, const Values<int>& chosen) {
  using R = Real<T>;
  const int n = work.n;
  const int bytes = 4 * n * static_cast<int>(sizeof(T)) + 64;
  const int level = bytes <= MatrixTeams::scratch_size_max(0) ? 0 : 1;
  Kokkos::parallel_for(
      "heddle::eigen::tridiagonalise",
      matrix_teams(space, static_cast<int>(chosen.extent(0))).set_scratch_size(level, Kokkos::PerTeam(bytes)),
      KOKKOS_LAMBDA(const MatrixTeam& team) {
        const int slot = chosen(team.league_rank());
        const auto column = [&](int j) { return &work.W(0, j, slot); };
        // v and w belong to the last step, `next` and `product` to this one.
        T* v = static_cast<T*>(team.team_scratch(level).get_shmem(4 * n * static_cast<int>(sizeof(T))));
        T* w = v + n;
        T* next = w + n;
        T* product = next + n;
        for (int k = 0; k + 1 < n; ++k) {
          T* const x = column(k);
          if (k > 0) {
            const T by_v = -conjugate(w[k]);
            const T by_w = -conjugate(v[k]);
            Kokkos::parallel_for(Kokkos::TeamVectorRange(team, k, n),
                                 [&](int i) { x[i] = multiply_add<T>(by_w, w[i], multiply_add<T>(by_v, v[i], x[i])); });
            team.team_barrier();
          }
          R square = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamVectorRange(team, k + 1, n), [&](int i, R& sum) { sum += square_of_size(x[i]); }, square);
          const Reflector<T> reflector = reflector_of<T>(x[k + 1], square);
          team.team_barrier();
          Kokkos::single(Kokkos::PerTeam(team), [&] {
            work.d(k, slot) = real_part(x[k]);
            work.e(k, slot) = reflector.beta;
            work.tau(k, slot) = reflector.tau;
          });
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, k + 1, n), [&](int i) {
            next[i] = i == k + 1 ? T(1) : x[i] * reflector.inverse;
            x[i] = next[i];
          });
          team.team_barrier();
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, k + 1, n), [&](int j) {
            T* const a = column(j);
            const T by_v = k > 0 ? -conjugate(w[j]) : T(0);
            const T by_w = k > 0 ? -conjugate(v[j]) : T(0);
            T inner = T(0);
            if (k > 0) {
              inner = vector_sum<T>(team, k + 1, n, [&](int i) {
                a[i] = multiply_add<T>(by_w, w[i], multiply_add<T>(by_v, v[i], a[i]));
                return conjugate(a[i]) * next[i];
              });
            } else {
              inner = vector_sum<T>(team, k + 1, n, [&](int i) { return conjugate(a[i]) * next[i]; });
            }
            Kokkos::single(Kokkos::PerThread(team), [&] { product[j] = reflector.tau * inner; });
          });
          team.team_barrier();
          R shared = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamVectorRange(team, k + 1, n),
              [&](int i, R& sum) { sum += real_part(conjugate(reflector.tau) * conjugate(next[i]) * product[i]); },
              shared);
          team.team_barrier();
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, k + 1, n), [&](int i) {
            v[i] = next[i];
            w[i] = product[i] - next[i] * (shared / 2);
          });
          team.team_barrier();
        }
        Kokkos::single(Kokkos::PerTeam(team), [&] { end_tridiagonal<T>(work, slot, v, w); });
      });
}

/// One chase of implicit QL with Wilkinson's shift (H. Bowdler, R. S. Martin, C. Reinsch, J. H. Wilkinson, 1968) down
/// the part of a tridiagonal matrix from row `first` to `last`; turn(i, c, s) hears of its rotations.
template <class R, class Turn> KOKKOS_INLINE_FUNCTION void chase(R* d, R* e, int first, int last, const Turn& turn) {
  constexpr R least = std::numeric_limits<R>::digits > 24 ? R(1e-280) : R(1e-30);
  const R ratio = (d[first + 1] - d[first]) / (2 * e[first]);
  const R root = Kokkos::sqrt(1 + ratio * ratio);
  R bulge = d[last] - d[first] + e[first] / (ratio + Kokkos::copysign(root, ratio));
  R c = 1;
  R s = 1;
  R moved = 0;
  for (int i = last - 1; i >= first; --i) {
    const R f = s * e[i];
    const R b = c * e[i];
    const R square = f * f + bulge * bulge;
    if (!(square > least)) {
      // Nothing of the bulge is left.
      e[i + 1] = 0;
      d[i + 1] -= moved;
      e[last] = 0;
      return;
    }
    const R inverse = 1 / Kokkos::sqrt(square);
    e[i + 1] = square * inverse;
    s = f * inverse;
    c = bulge * inverse;
    const R lower = d[i + 1] - moved;
    const R across = (d[i] - lower) * s + 2 * c * b;
    moved = s * across;
    d[i + 1] = lower + moved;
    bulge = c * across - b;
    turn(i, c, s);
  }
  d[first] -= moved;
  e[first] = bulge;
  e[last] = 0;
}

/// The next chases of matrix `slot`, whose tridiagonal matrix is in d and e, by one thread; gives how many.
template <Scalar T>
KOKKOS_INLINE_FUNCTION int next_chases(const Tridiagonals<T>& work, int slot, Real<T>* d, Real<T>* e) {
  using R = Real<T>;
  constexpr int chases = Tridiagonals<T>::chases;
  constexpr int most_of_one = 30;
  const int n = work.n;
  const R small = unit_roundoff<T> / 4 * work.bound(slot);
  constexpr R nothing = unit_roundoff<T> * unit_roundoff<T>;
  int first = work.state(slot, 0);
  int taken = work.state(slot, 1);
  int done = 0;
  while (first < n && done < chases) {
    int last = first;
    while (last + 1 < n && Kokkos::abs(e[last]) > small) {
      ++last;
    }
    if (last == first || taken == most_of_one) {
      ++first;
      taken = 0;
      continue;
    }
    chase<R>(d, e, first, last, [&](int i, R c, R s) {
      work.cosines(done, i + chases, slot) = c;
      // Negligible sines become 0, so that no factor is a denormal number.
      work.sines(done, i + chases, slot) = Kokkos::abs(s) > nothing ? s : R(0);
    });
    work.ranges(done, slot, 0) = first;
    work.ranges(done, slot, 1) = last;
    ++done;
    ++taken;
  }
  work.state(slot, 0) = first;
  work.state(slot, 1) = taken;
  for (int t = done; t < chases; ++t) {
    work.ranges(t, slot, 0) = n;
    work.ranges(t, slot, 1) = -1;
  }
  return done;
}

/// The next chases of each chosen matrix, as many as there is room for; gives how many matrices had any.
template <Scalar T> int chase_all(const ExecutionSpace& space, const Tridiagonals<T>& work, const Values<int>& chosen) {
  using R = Real<T>;
  const int n = work.n;
  Kokkos::deep_copy(space, work.cosines, R(1));
  Kokkos::deep_copy(space, work.sines, R(0));
  // One thread has the chain of roots and quotients; a vector beside it brings the numbers near and takes them back.
  const int bytes = 2 * n * static_cast<int>(sizeof(R)) + 64;
  const int level = bytes <= ColumnTeams::scratch_size_max(0) ? 0 : 1;
  const int count = static_cast<int>(chosen.extent(0));
  int active = 0;
  Kokkos::parallel_reduce(
      "heddle::eigen::chase",
      (heddle::impl::on_host ? ColumnTeams(space, count, 1) : ColumnTeams(space, count, 1, 32))
          .set_scratch_size(level, Kokkos::PerTeam(bytes)),
      KOKKOS_LAMBDA(const ColumnTeam& team, int& going_on) {
        const int slot = chosen(team.league_rank());
        R* const d = static_cast<R*>(team.team_scratch(level).get_shmem(2 * n * static_cast<int>(sizeof(R))));
        R* const e = d + n;
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) {
          d[i] = work.d(i, slot);
          e[i] = work.e(i, slot);
        });
        team.team_barrier();
        Kokkos::single(Kokkos::PerTeam(team), [&] { going_on += next_chases<T>(work, slot, d, e) > 0 ? 1 : 0; });
        team.team_barrier();
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) {
          work.d(i, slot) = d[i];
          work.e(i, slot) = e[i];
        });
      },
      active);
  return active;
}

/// Rows of Q, those from `q` on with columns `leading` apart, real and imaginary parts alike, turned by `together`
/// chases, each a column behind the one before it, so that elements pass through registers once for all of them. The
/// chases lie between columns `first` and `last`; cosines and sines of column i are chases * i further on.
template <Scalar T>
KOKKOS_FORCEINLINE_FUNCTION void turn_rows(Real<T>* q, Index leading, const Real<T>* cosines, const Real<T>* sines,
                                           int first, int last) {
  using R = Real<T>;
  constexpr int together = Tridiagonals<T>::together;
  constexpr int rows = Tridiagonals<T>::rows_at_once * (is_complex<T> ? 2 : 1);
  constexpr int step = Tridiagonals<T>::chases;
  // Columns j ... j + together of these rows.
  R x[together + 1][rows] = {};
  for (int j = last; j >= first - together; --j) {
    if (j >= first) {
      for (int r = 0; r < rows; ++r) {
        x[0][r] = q[j * leading + r];
      }
    }
    for (int t = 0; t < together; ++t) {
      const R c = cosines[(j + t) * step + t];
      const R s = sines[(j + t) * step + t];
      for (int r = 0; r < rows; ++r) {
        const R left = x[t][r];
        const R right = x[t + 1][r];
        x[t][r] = left * c - right * s;
        x[t + 1][r] = left * s + right * c;
      }
    }
    if (j + together <= last) {
      for (int r = 0; r < rows; ++r) {
        q[(j + together) * leading + r] = x[together][r];
      }
    }
    for (int t = together; t > 0; --t) {
      for (int r = 0; r < rows; ++r) {
        x[t][r] = x[t - 1][r];
      }
    }
  }
}

/// Q turned by the rotations that chase_all() kept.
template <Scalar T>
void turn_vectors(const ExecutionSpace& space, const Tridiagonals<T>& work, const Values<int>& chosen) {
  constexpr int chases = Tridiagonals<T>::chases;
  constexpr int together = Tridiagonals<T>::together;
  constexpr int rows = Tridiagonals<T>::rows_at_once;
  const int bands = static_cast<int>(work.Q.extent(0)) / rows;
  Kokkos::parallel_for(
      "heddle::eigen::turn_vectors",
      Kokkos::RangePolicy<ExecutionSpace>(space, 0, static_cast<int>(chosen.extent(0)) * bands), KOKKOS_LAMBDA(int at) {
        const int slot = chosen(at / bands);
        for (int group = 0; group < chases; group += together) {
          int first = work.n;
          int last = -1;
          for (int t = group; t < group + together; ++t) {
            first = Kokkos::min(first, work.ranges(t, slot, 0));
            last = Kokkos::max(last, work.ranges(t, slot, 1));
          }
          turn_rows<T>(reinterpret_cast<Real<T>*>(&work.Q(at % bands * rows, 0, slot)),
                       static_cast<Index>(work.Q.stride(1)) * (is_complex<T> ? 2 : 1),
                       &work.cosines(group, chases, slot), &work.sines(group, chases, slot), first, last);
        }
      });
}

/// Q = the identity, for each chosen matrix.
template <Scalar T> void begin_vectors(const ExecutionSpace& space, const Matrices<T>& Q, const Values<int>& chosen) {
  const int n = static_cast<int>(Q.extent(0));
  const int columns = static_cast<int>(Q.extent(1));
  Kokkos::parallel_for(
      "heddle::eigen::identity", column_teams(space, static_cast<Index>(chosen.extent(0)) * columns),
      KOKKOS_LAMBDA(const ColumnTeam& team) {
        const int slot = chosen(team.league_rank() / columns);
        const int j = team.league_rank() % columns;
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) { Q(i, j, slot) = T(i == j ? 1 : 0); });
      });
}

/// Orthonormal vectors in Q that make the matrices in W nearly diagonal, and a bound of their eigenvalues. W is lost.
template <Scalar T>
void find_vectors(const ExecutionSpace& space, const Tridiagonals<T>& work, const Values<int>& chosen) {
  tridiagonalise<T>(space, work, chosen);
  begin_vectors<T>(space, work.Q, chosen);
  apply_reflectors<T>(space, work.W, work.tau, work.Q, chosen, work.n, work.n - 1, 1, work.n, true);
  while (chase_all<T>(space, work, chosen) > 0) {
    turn_vectors<T>(space, work, chosen);
  }
}

/// X = W Q + shift Q, W the matrices once more.
template <Scalar T>
void shifted_products(const ExecutionSpace& space, const Beginning<T>& work, const Values<Real<T>>& shifts,
                      const Values<int>& chosen, const Matrices<T>& X) {
  constexpr int together = 4;
  constexpr int terms = 8;
  const auto n = static_cast<int>(work.W.extent(0));
  const int teams = (n + columns_of_team - 1) / columns_of_team;
  Kokkos::parallel_for(
      "heddle::eigen::shifted_products", teams_by_columns(space, static_cast<int>(chosen.extent(0)), n),
      KOKKOS_LAMBDA(const MatrixTeam& team) {
        const int slot = chosen(team.league_rank() / teams);
        const int begin = team.league_rank() % teams * columns_of_team;
        const Real<T> shift = shifts(slot);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, columns_of_team / together), [&](int part) {
          const int first = begin + part * together;
          const int here = n - first < together ? n - first : together;
          for (int c = 0; c < here; ++c) {
            Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n),
                                 [&](int i) { X(i, first + c, slot) = work.Q(i, first + c, slot) * shift; });
          }
          int k = 0;
          for (; k + terms <= n && here == together; k += terms) {
            T by[terms][together];
            const T* a[terms];
            T* x[together];
            for (int c = 0; c < together; ++c) {
              x[c] = &X(0, first + c, slot);
              for (int at = 0; at < terms; ++at) {
                a[at] = &work.W(0, k + at, slot);
                by[at][c] = work.Q(k + at, first + c, slot);
              }
            }
            Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](int i) {
              T sums[together];
              for (int c = 0; c < together; ++c) {
                sums[c] = x[c][i];
              }
              for (int at = 0; at < terms; ++at) {
                const T element = a[at][i];
                for (int c = 0; c < together; ++c) {
                  sums[c] = multiply_add<T>(element, by[at][c], sums[c]);
                }
              }
              for (int c = 0; c < together; ++c) {
                x[c][i] = sums[c];
              }
            });
          }
          for (; k < n; ++k) {
            for (int c = 0; c < here; ++c) {
              const T by = work.Q(k, first + c, slot);
              Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](int i) {
                X(i, first + c, slot) = multiply_add<T>(work.W(i, k, slot), by, X(i, first + c, slot));
              });
            }
          }
        });
      });
}

}  // namespace heddle::eigen::impl
