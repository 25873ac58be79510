// Two-sided Jacobi rotations: classical, cyclic and round-robin.
#include "eigen/dense/two_sided.hpp"

#include "core/instantiate.hpp"
#include "core/launch_bounds.hpp"
#include "eigen/dense/rotation.hpp"
#include "eigen/dense/round_robin.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace heddle::eigen::impl {
namespace {

// The classical order's bookkeeping: for each column its largest element off the diagonal.
template <class R> struct Largest {
  Values<R> size;
  Kokkos::View<Index*, MemorySpace> row;
};

template <class R> struct Found {
  R size;
  Index column;
};
template <class R> struct LargestFound {
  using reducer = LargestFound;
  using value_type = Found<R>;
  using result_view_type = Kokkos::View<Found<R>, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

  Found<R>* result;
  KOKKOS_INLINE_FUNCTION void join(Found<R>& to, const Found<R>& from) const {
    if (from.size > to.size || (from.size == to.size && from.column < to.column)) {
      to = from;
    }
  }
  KOKKOS_INLINE_FUNCTION void init(Found<R>& value) const { value = {R(-1), Index{1} << 62}; }
  KOKKOS_INLINE_FUNCTION Found<R>& reference() const { return *result; }
  [[nodiscard]] result_view_type view() const { return result_view_type(result); }
};

using OneTeam = Kokkos::TeamPolicy<ExecutionSpace, heddle::impl::LaunchBounds<512, 1>>;

template <class Functor> OneTeam one_team(const ExecutionSpace& space, const Functor& functor) {
  if (heddle::impl::on_host) {
    return {space, 1, 1};
  }
  OneTeam policy(space, 1, 1, 1);
  const int most = policy.team_size_max(functor, Kokkos::ParallelForTag());
  return {space, 1, std::min(most, 512), 1};
}

// Counts of a kernel of one team.
template <class R> using CountsView = Kokkos::View<SweepCounts<R>, MemorySpace>;

// Rotates rows and columns p and q of A, columns of V; all threads of the team.
template <Scalar T> struct SerialRotations {
  using R = Real<T>;
  Dense<T> A;
  Dense<T> V;
  Criterion<R> criterion;
  Index most;  // Rotations.
  CountsView<R> counts;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void turn(const Team& team, Index p, Index q, Rotation<T> rotation) const {
    const Index n = static_cast<Index>(A.extent(0));
    const R a = real_part(A(p, p));
    const R d = real_part(A(q, q));
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](Index i) {
      T x = A(i, p);
      T y = A(i, q);
      rotate<T>(rotation.s, rotation.tau, x, y);
      A(i, p) = x;
      A(i, q) = y;
      A(p, i) = conjugate(x);
      A(q, i) = conjugate(y);
    });
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, static_cast<Index>(V.extent(0))),
                         [&](Index i) { rotate<T>(rotation.s, rotation.tau, V(i, p), V(i, q)); });
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      A(p, p) = T(a - rotation.shift);
      A(q, q) = T(d + rotation.shift);
      A(p, q) = T(0);
      A(q, p) = T(0);
    });
    team.team_barrier();
  }
};

template <Scalar T> struct CyclicSweep : SerialRotations<T> {
  using R = Real<T>;
  template <class Team> KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Index n = static_cast<Index>(this->A.extent(0));
    SweepCounts<R> found;
    for (Index p = 0; p < n - 1 && found.rotations < this->most; ++p) {
      for (Index q = p + 1; q < n && found.rotations < this->most; ++q) {
        const T b = this->A(p, q);
        const R size = magnitude(b);
        const R a = real_part(this->A(p, p));
        const R d = real_part(this->A(q, q));
        const R share = this->criterion.share(size, a, d);
        found.largest = Kokkos::fmax(found.largest, share);
        if (share > this->criterion.least) {
          const Rotation<T> rotation = rotation_of<T>(a, b, size, d);
          found.sine = Kokkos::fmax(found.sine, magnitude(rotation.s));
          ++found.rotations;
          this->turn(team, p, q, rotation);
        }
      }
    }
    Kokkos::single(Kokkos::PerTeam(team), [&] { this->counts() = found; });
  }
};

template <Scalar T> struct ClassicalRotations : SerialRotations<T> {
  using R = Real<T>;
  Largest<R> known;

  KOKKOS_INLINE_FUNCTION void look(Index j) const {
    const Index n = static_cast<Index>(this->A.extent(0));
    R size = 0;
    Index row = j == 0 ? 1 : 0;
    for (Index i = 0; i < n; ++i) {
      const R here = i == j ? R(0) : magnitude(this->A(i, j));
      if (here > size) {
        size = here;
        row = i;
      }
    }
    known.size(j) = size;
    known.row(j) = row;
  }
  template <class Team> KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Index n = static_cast<Index>(this->A.extent(0));
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](Index j) { look(j); });
    team.team_barrier();
    SweepCounts<R> found;
    while (true) {
      Found<R> largest{R(-1), 0};
      Kokkos::parallel_reduce(
          Kokkos::TeamVectorRange(team, n),
          [&](Index j, Found<R>& to) {
            const Found<R> here{known.size(j), j};
            LargestFound<R>{nullptr}.join(to, here);
          },
          LargestFound<R>{&largest});
      team.team_barrier();
      const Index q = largest.column;
      const Index p = known.row(q);
      const R share = this->criterion.share(largest.size, real_part(this->A(p, p)), real_part(this->A(q, q)));
      if (found.rotations == 0 || !(share > this->criterion.least)) {
        found.largest = share;
      }
      if (!(share > this->criterion.least) || found.rotations >= this->most) {
        break;
      }
      const T b = this->A(p, q);
      const Rotation<T> rotation = rotation_of<T>(real_part(this->A(p, p)), b, magnitude(b), real_part(this->A(q, q)));
      found.sine = Kokkos::fmax(found.sine, magnitude(rotation.s));
      ++found.rotations;
      this->turn(team, p, q, rotation);
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](Index j) {
        if (j == p || j == q || known.row(j) == p || known.row(j) == q) {
          look(j);
          return;
        }
        const R at_p = magnitude(this->A(p, j));
        const R at_q = magnitude(this->A(q, j));
        if (at_p > known.size(j) || at_q > known.size(j)) {
          known.row(j) = at_p >= at_q ? p : q;
          known.size(j) = at_p >= at_q ? at_p : at_q;
        }
      });
      team.team_barrier();
    }
    Kokkos::single(Kokkos::PerTeam(team), [&] { this->counts() = found; });
  }
};

// n / 2 rotations at a time: their angles by one kernel, the 2 x 2 blocks that pairs of them meet in by another.
template <Scalar T> class DisjointRotations {
 public:
  using R = Real<T>;
  DisjointRotations(const ExecutionSpace& space, const Dense<T>& A, const Dense<T>& V)
      : space_(space),
        A_(A),
        V_(V),
        n_(static_cast<int>(A.extent(0))),
        pairs_((n_ + 1) / 2),
        s_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::sines"), pairs_),
        tau_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::half_tangents"), pairs_),
        shift_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::shifts"), pairs_) {}

  SweepCounts<R> sweep(const Criterion<R>& criterion) const {
    SweepCounts<R> counts;
    for (int step = 0; step < 2 * pairs_ - 1; ++step) {
      const SweepCounts<R> found = angles(criterion, step);
      counts += found;
      if (found.rotations > 0) {
        apply(step);
      }
    }
    return counts;
  }

  // The two halves of a step; public, as nvcc wants functions with kernels in them.
  SweepCounts<R> angles(const Criterion<R>& criterion, int step) const {
    const Dense<T> A = A_;
    const auto s = s_;
    const auto tau = tau_;
    const auto shift = shift_;
    const int n = n_;
    const int pairs = pairs_;
    SweepCounts<R> found;
    Kokkos::parallel_reduce(
        "heddle::eigen::angles", Kokkos::RangePolicy<ExecutionSpace>(space_, 0, pairs),
        KOKKOS_LAMBDA(int k, SweepCounts<R>& seen) {
          const int p = occupant(k, pairs, step);
          const int q = occupant(pairs + k, pairs, step);
          Rotation<T> rotation;
          if (p < n && q < n) {
            const R a = real_part(A(p, p));
            const R d = real_part(A(q, q));
            const T b = A(p, q);
            const R size = magnitude(b);
            const R share = criterion.share(size, a, d);
            seen.largest = Kokkos::fmax(seen.largest, share);
            if (share > criterion.least) {
              rotation = rotation_of<T>(a, b, size, d);
              seen.sine = Kokkos::fmax(seen.sine, magnitude(rotation.s));
              ++seen.rotations;
            }
          }
          s(k) = rotation.s;
          tau(k) = rotation.tau;
          shift(k) = rotation.shift;
        },
        found);
    return found;
  }
  void apply(int step) const {
    const Dense<T> A = A_;
    const Dense<T> V = V_;
    const auto s = s_;
    const auto tau = tau_;
    const auto shift = shift_;
    const int n = n_;
    const int pairs = pairs_;
    const int vectors = static_cast<int>(V.extent(0));
    using Teams = Kokkos::TeamPolicy<ExecutionSpace>;
    Kokkos::parallel_for(
        "heddle::eigen::disjoint_rotations",
        heddle::impl::on_host ? Teams(space_, pairs, 1) : Teams(space_, pairs, 1, Kokkos::AUTO),
        KOKKOS_LAMBDA(const typename Teams::member_type& team) {
          const int l = team.league_rank();
          const int left = occupant(l, pairs, step);
          const int right = occupant(pairs + l, pairs, step);
          const T sl = s(l);
          const T taul = tau(l);
          const int p = left < n ? left : right;
          const int q = right < n ? right : left;  // p == q: the one without a partner.
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, pairs), [&](int k) {
            const int above = occupant(k, pairs, step);
            const int below = occupant(pairs + k, pairs, step);
            const int i = above < n ? above : below;
            const int j = below < n ? below : above;
            T x00 = A(i, p);
            T x10 = A(j, p);
            T x01 = A(i, q);
            T x11 = A(j, q);
            if (p != q) {
              rotate<T>(sl, taul, x00, x01);
              rotate<T>(sl, taul, x10, x11);
            }
            if (i != j) {
              const T row = conjugate(s(k));
              const T row_tau = conjugate(tau(k));
              rotate<T>(row, row_tau, x00, x10);
              rotate<T>(row, row_tau, x01, x11);
            }
            if (k == l && p != q) {
              if (sl != T(0)) {
                x00 = T(real_part(A(p, p)) - shift(l));
                x11 = T(real_part(A(q, q)) + shift(l));
                x01 = T(0);
                x10 = T(0);
              }
            }
            A(i, p) = x00;
            A(j, p) = x10;
            A(i, q) = x01;
            A(j, q) = x11;
          });
          if (p != q) {
            Kokkos::parallel_for(Kokkos::TeamVectorRange(team, vectors),
                                 [&](int i) { rotate<T>(sl, taul, V(i, p), V(i, q)); });
          }
        });
  }

 private:
  ExecutionSpace space_;
  Dense<T> A_;
  Dense<T> V_;
  int n_;
  int pairs_;
  Kokkos::View<T*, MemorySpace> s_;
  Kokkos::View<T*, MemorySpace> tau_;
  Values<R> shift_;
};

template <Scalar T, class Kernel>
SweepCounts<Real<T>> run(const ExecutionSpace& space, const std::string& label, const Kernel& kernel) {
  Kokkos::parallel_for(label, one_team(space, kernel), kernel);
  SweepCounts<Real<T>> counts;
  Kokkos::deep_copy(space, Kokkos::View<SweepCounts<Real<T>>, Kokkos::HostSpace>(&counts), kernel.counts);
  space.fence(label);
  return counts;
}

}  // namespace

template <Scalar T> Norms<Real<T>> norms_of(const ExecutionSpace& space, const Dense<T>& A) {
  using R = Real<T>;
  const auto n = static_cast<Index>(A.extent(0));
  // A column at a time, and these on the host: the same sums for any number of threads.
  const Kokkos::View<R* [2], MemorySpace> columns(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::column_norms"),
      static_cast<std::size_t>(n));
  Kokkos::parallel_for(
      "heddle::eigen::column_norms", Kokkos::RangePolicy<ExecutionSpace>(space, 0, n), KOKKOS_LAMBDA(Index j) {
        R sum = 0;
        for (Index i = 0; i < n; ++i) {
          const R size = i == j ? R(0) : magnitude(A(i, j));
          sum += size * size;
        }
        columns(j, 0) = sum;
        columns(j, 1) = real_part(A(j, j));
      });
  const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), columns);
  Kokkos::deep_copy(space, host, columns);
  space.fence("heddle::eigen::column_norms");
  double off = 0;
  double diagonal = 0;
  Norms<R> norms;
  norms.least = n > 0 ? host(0, 1) : R(0);
  for (Index j = 0; j < n; ++j) {
    off += host(j, 0);
    diagonal += static_cast<double>(host(j, 1)) * static_cast<double>(host(j, 1));
    norms.least = std::min(norms.least, host(j, 1));
  }
  norms.off = static_cast<R>(std::sqrt(off));
  norms.all = static_cast<R>(std::sqrt(off + diagonal));
  return norms;
}

template <Scalar T>
void two_sided(const ExecutionSpace& space, const Dense<T>& A, const Dense<T>& V, Criterion<Real<T>> criterion,
               Indefinite indefinite, const JacobiOptions& options, JacobiReport& report) {
  using R = Real<T>;
  const auto n = static_cast<Index>(A.extent(0));
  const CountsView<R> counts_view(Kokkos::view_alloc(space, "heddle::eigen::counts"));
  Norms<R> norms = norms_of<T>(space, A);
  report.off_norms.push_back(norms.all == 0 ? 0 : norms.off / norms.all);
  const bool limited = options.rotations > 0;
  const Index most = limited ? options.rotations : std::numeric_limits<Index>::max();
  const DisjointRotations<T> disjoint(space, A, V);
  Largest<R> known;
  if (report.method == JacobiMethod::classical) {
    known.size = Values<R>(Kokkos::view_alloc(space, "heddle::eigen::largest"), static_cast<std::size_t>(n));
    known.row = Kokkos::View<Index*, MemorySpace>(Kokkos::view_alloc(space, "heddle::eigen::largest_rows"),
                                                  static_cast<std::size_t>(n));
  }
  report.converged = false;
  report.end = JacobiEnd::sweep_limit;
  while (report.sweeps < options.sweeps) {
    // A negative number on the diagonal: A is not positive definite.
    if (criterion.relative && indefinite == Indefinite::turns_to_norm && norms.least <= 0) {
      criterion.relative = false;
      report.accuracy = JacobiAccuracy::norm;
    }
    require(!criterion.relative || norms.least > 0 || indefinite == Indefinite::allowed, not_definite);
    SweepCounts<R> counts;
    const Index left = most - report.rotations;
    if (report.method == JacobiMethod::classical) {
      ClassicalRotations<T> kernel;
      kernel.A = A;
      kernel.V = V;
      kernel.criterion = criterion;
      kernel.most = std::min(left, n * (n - 1) / 2);
      kernel.counts = counts_view;
      kernel.known = known;
      counts = run<T>(space, "heddle::eigen::classical", kernel);
    } else if (report.method == JacobiMethod::cyclic) {
      CyclicSweep<T> kernel;
      kernel.A = A;
      kernel.V = V;
      kernel.criterion = criterion;
      kernel.most = left;
      kernel.counts = counts_view;
      counts = run<T>(space, "heddle::eigen::cyclic", kernel);
    } else {
      counts = disjoint.sweep(criterion);
    }
    ++report.sweeps;
    report.rotations += counts.rotations;
    norms = norms_of<T>(space, A);
    report.off_norms.push_back(norms.all == 0 ? 0 : norms.off / norms.all);
    const bool nothing = !(counts.largest > criterion.tolerance);
    const JacobiEnd end = end_after(counts, nothing, criterion.tolerance, n, criterion.relative);
    if (end == JacobiEnd::tolerance || (end == JacobiEnd::quadratic && report.method != JacobiMethod::classical)) {
      report.converged = true;
      report.end = end;
      break;
    }
    if (limited && report.rotations >= options.rotations) {
      report.end = JacobiEnd::rotation_limit;
      break;
    }
  }
  // The last sweep may have been the first to find a negative one.
  if (criterion.relative && !(norms.least > 0)) {
    require(indefinite != Indefinite::refused, not_definite);
    report.accuracy = JacobiAccuracy::norm;
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                                         \
  template Norms<Real<T>> norms_of<T>(const ExecutionSpace&, const Dense<T>&);                                        \
  template void two_sided<T>(const ExecutionSpace&, const Dense<T>&, const Dense<T>&, Criterion<Real<T>>, Indefinite, \
                             const JacobiOptions&, JacobiReport&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
