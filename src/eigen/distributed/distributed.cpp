#include "core/instantiate.hpp"
#include "dist/elementwise.hpp"
#include "eigen/dense/dense.hpp"
#include "eigen/distributed/travelling.hpp"
#include <heddle/eigen/distributed.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace heddle::eigen {
namespace impl {
namespace {

using heddle::impl::for_each_element;
using heddle::impl::on_host;

constexpr int preferred_block = 16;

// The largest part of this rank's elements, off the diagonal and all; infinity for a NaN.
template <Scalar T> struct LargestParts {
  Real<T> off = 0;
  Real<T> all = 0;
};
template <Scalar T> KOKKOS_INLINE_FUNCTION Real<T> part_size(const T& x) {
  using R = Real<T>;
  R size;
  if constexpr (is_complex<T>) {
    const R re = Kokkos::abs(x.real());
    const R im = Kokkos::abs(x.imag());
    size = re != re || im != im ? Kokkos::Experimental::infinity_v<R> : Kokkos::fmax(re, im);
  } else {
    size = x != x ? Kokkos::Experimental::infinity_v<R> : Kokkos::abs(x);
  }
  return size;
}
template <Scalar T> LargestParts<T> largest_parts(const Communicator& comm, const DistributedMatrix<T>& A) {
  using R = Real<T>;
  const MatrixView<T> local = A.local();
  const auto rows = static_cast<Index>(local.extent(0));
  const CyclicAxis down = A.placement().row_axis();
  const CyclicAxis along = A.placement().column_axis();
  const int p = A.grid_row();
  const int q = A.grid_column();
  LargestParts<T> found;
  Kokkos::parallel_reduce(
      "heddle::eigen::largest_element",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(comm.space(), 0, static_cast<Index>(local.size())),
      KOKKOS_LAMBDA(Index at, R & off, R & all) {
        const Index i = at % rows;
        const Index j = at / rows;
        const R size = part_size<T>(local(i, j));
        all = Kokkos::fmax(all, size);
        off = down.global(p, i) == along.global(q, j) ? off : Kokkos::fmax(off, size);
      },
      Kokkos::Max<R>(found.off), Kokkos::Max<R>(found.all));
  std::array<double, 2> both = {static_cast<double>(std::max(found.off, R(0))),
                                static_cast<double>(std::max(found.all, R(0)))};
  comm.all_reduce(std::span<double>(both), Reduction::maximum);
  return {static_cast<R>(both[0]), static_cast<R>(both[1])};
}

// Columns of A that begin at `begin` of all, as a rank holds them.
template <Scalar T> struct Part {
  MatrixView<T> columns;
  Index begin;
};

// |A|_2 from below, by the power method; x is whole on every rank.
template <Scalar T> double norm_over_ranks(const Communicator& comm, Index n, const std::vector<Part<T>>& parts) {
  using R = Real<T>;
  constexpr int numbers = is_complex<T> ? 2 : 1;
  const ExecutionSpace& space = comm.space();
  const auto length = static_cast<std::size_t>(n);
  std::vector<double> x(numbers * length);
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  for (double& value : x) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    value = static_cast<double>(state >> 11) * 0x1p-53 - 0.5;
  }
  double estimate = 0;
  constexpr int steps = 12;
  std::vector<T> held(length);
  for (int step = 0; step <= steps; ++step) {
    const double norm = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
    estimate = step > 0 ? std::max(estimate, norm) : 0.0;
    if (step == steps || norm == 0) {
      break;
    }
    for (std::size_t i = 0; i < length; ++i) {
      if constexpr (is_complex<T>) {
        held[i] = T(static_cast<R>(x[2 * i] / norm), static_cast<R>(x[2 * i + 1] / norm));
      } else {
        held[i] = static_cast<T>(x[i] / norm);
      }
    }
    const auto vector = on_device(space, "heddle::eigen::x", held);
    std::fill(x.begin(), x.end(), 0.0);
    for (const Part<T>& part : parts) {
      const MatrixView<T> A = part.columns;
      const std::size_t count = A.extent(1);
      if (count == 0) {
        continue;
      }
      const Kokkos::View<T*, MemorySpace> y(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::y"),
                                            count);
      using Teams = Kokkos::TeamPolicy<ExecutionSpace>;
      const auto teams = static_cast<int>(count);
      Kokkos::parallel_for(
          "heddle::eigen::product", on_host ? Teams(space, teams, 1) : Teams(space, teams, 4, 32),
          KOKKOS_LAMBDA(const typename Teams::member_type& team) {
            const Index j = team.league_rank();
            T inner = T(0);
            Kokkos::parallel_reduce(
                Kokkos::TeamVectorRange(team, n), [&](Index i, T& sum) { sum += conjugate(A(i, j)) * vector(i); },
                inner);
            Kokkos::single(Kokkos::PerTeam(team), [&] { y(j) = inner; });
          });
      const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), y);
      Kokkos::deep_copy(space, host, y);
      space.fence("heddle::eigen::norm_estimate");
      for (std::size_t j = 0; j < count; ++j) {
        const std::size_t at = static_cast<std::size_t>(part.begin) + j;
        if constexpr (is_complex<T>) {
          x[2 * at] = static_cast<double>(host(j).real());
          x[2 * at + 1] = static_cast<double>(host(j).imag());
        } else {
          x[at] = static_cast<double>(host(j));
        }
      }
    }
    comm.all_reduce(std::span<double>(x), Reduction::sum);
  }
  return estimate;
}

// Where column `order[j]` of all that ranks hold goes: to column j of V, in column bands. `columns` lists, for each of
// this rank's, its number among all, where it lies and what makes its length 1.
template <Scalar T> struct OwnColumn {
  Index number;
  MatrixView<T> view;  // n x 1
  double factor;
};
template <Scalar T>
void deliver(const Communicator& comm, Index n, const std::vector<OwnColumn<T>>& columns, const std::vector<int>& owner,
             const std::vector<Index>& order, const DistributedMatrix<T>& V) {
  const ExecutionSpace& space = comm.space();
  const int ranks = comm.size();
  const std::shared_ptr<Transport> transport = comm.transport();
  const Placement bands = Placement::column_bands(n, n, ranks);
  const DistributedMatrix<T> sorted(comm, bands, "heddle::eigen::sorted");
  std::vector<Index> place(static_cast<std::size_t>(n));
  for (Index j = 0; j < n; ++j) {
    place[static_cast<std::size_t>(order[static_cast<std::size_t>(j)])] = j;
  }
  // Messages hold columns in the order that they have in V.
  std::vector<Dense<T>> outgoing;
  std::vector<Dense<T>> incoming;
  std::vector<std::vector<Index>> targets;
  std::vector<Request> requests;
  for (int other = 0; other < ranks; ++other) {
    std::vector<std::pair<Index, std::size_t>> mine;
    for (std::size_t at = 0; at < columns.size(); ++at) {
      const Index j = place[static_cast<std::size_t>(columns[at].number)];
      if (bands.owner(0, j) == other) {
        mine.emplace_back(j, at);
      }
    }
    std::sort(mine.begin(), mine.end());
    outgoing.push_back(dense<T>(space, "heddle::eigen::outgoing", n, static_cast<Index>(mine.size())));
    for (std::size_t at = 0; at < mine.size(); ++at) {
      const OwnColumn<T>& column = columns[mine[at].second];
      const MatrixView<T> from = column.view;
      const Dense<T> to = outgoing.back();
      const auto factor = static_cast<Real<T>>(column.factor);
      const auto j = static_cast<Index>(at);
      for_each_element(
          space, "heddle::eigen::pack", n, 1, KOKKOS_LAMBDA(Index i, Index) { to(i, j) = from(i, 0) * factor; });
    }
    std::vector<Index> arriving;
    for (Index j = 0; j < n; ++j) {
      if (bands.owner(0, j) == comm.rank() &&
          owner[static_cast<std::size_t>(order[static_cast<std::size_t>(j)])] == other) {
        arriving.push_back(bands.column_axis().local(j));
      }
    }
    incoming.push_back(dense<T>(space, "heddle::eigen::incoming", n, static_cast<Index>(arriving.size())));
    targets.push_back(arriving);
  }
  for (int other = 0; other < ranks; ++other) {
    const auto at = static_cast<std::size_t>(other);
    requests.push_back(
        transport->template receive<T>(MatrixView<T>(incoming[at]), other, heddle::impl::tag_jacobi_vectors));
    requests.push_back(
        transport->template send<T>(MatrixView<const T>(outgoing[at]), other, heddle::impl::tag_jacobi_vectors));
  }
  for (Request& request : requests) {
    request.wait();
  }
  for (std::size_t at = 0; at < incoming.size(); ++at) {
    const auto target = on_device(space, "heddle::eigen::targets", targets[at]);
    const Dense<T> from = incoming[at];
    const MatrixView<T> to = sorted.local();
    for_each_element(
        space, "heddle::eigen::unpack", n, static_cast<Index>(targets[at].size()),
        KOKKOS_LAMBDA(Index i, Index j) { to(i, target(j)) = from(i, j); });
  }
  redistribute(sorted, V);
}

}  // namespace
}  // namespace impl

template <Scalar T>
JacobiReport jacobi(const Communicator& comm, const DistributedMatrix<T>& A,
                    const Kokkos::View<Real<T>*, MemorySpace>& w, const DistributedMatrix<T>& V,
                    const JacobiOptions& options) {
  using R = Real<T>;
  const Kokkos::Profiling::ScopedRegion region("heddle::eigen::distributed_jacobi");
  const Index n = A.rows();
  const ExecutionSpace& space = comm.space();
  require(A.columns() == n, "eigen::jacobi: A is ", n, " x ", A.columns(), "; expected a square matrix");
  require(V.rows() == n && V.columns() == n, "eigen::jacobi: V is ", V.rows(), " x ", V.columns(), "; expected ", n,
          " x ", n);
  require(static_cast<Index>(w.extent(0)) == n, "eigen::jacobi: w has ", w.extent(0), " elements; expected ", n);
  require(options.method == JacobiMethod::automatic || options.method == JacobiMethod::blocked,
          "eigen::jacobi over ranks: method \"", to_string(options.method), "\"; expected automatic or blocked");
  require(options.accuracy != JacobiAccuracy::relative,
          "eigen::jacobi over ranks: accuracy \"relative\"; expected automatic or norm");
  require(!options.warm_start && !options.lower_precision, "eigen::jacobi over ranks has no warm start");
  require(options.sweeps > 0, "eigen::jacobi: ", options.sweeps, " sweeps; expected at least 1");
  require(options.block >= 0 && options.tolerance >= 0, "eigen::jacobi: a negative block or tolerance");
  JacobiReport report;
  report.method = JacobiMethod::blocked;
  report.accuracy = JacobiAccuracy::norm;
  if (n == 0) {
    return report;
  }
  const impl::LargestParts<T> largest = impl::largest_parts<T>(comm, A);
  require(std::isfinite(largest.all), "eigen::jacobi: A has elements that are NaN or infinite");
  // A diagonal is returned as it is: scaled, the least of it might vanish.
  const int exponent = largest.off > 0 ? std::ilogb(largest.all) + 1 : 0;
  const R first = std::ldexp(R(1), -exponent / 2);
  const R second = std::ldexp(R(1), -(exponent - exponent / 2));

  const int ranks = comm.size();
  const auto [block, half] = impl::TravellingColumns<T>::chosen_blocks(n, ranks, options.block, impl::preferred_block);
  const Index width = Index{half} * block;  // Of a half; groups of two halves are dealt out in turn.
  impl::TravellingColumns<T> travelling(comm, n, block, half);
  std::vector<impl::Part<T>> parts;  // Of this rank, by halves of its upper and its lower group.
  {
    const DistributedMatrix<T> dealt(comm, Placement::block_cyclic(n, n, n, 2 * width, 1, ranks),
                                     "heddle::eigen::dealt");
    redistribute(A, dealt);
    const MatrixView<T> local = dealt.local();
    const auto count = static_cast<Index>(local.extent(1));
    for (int group = 0; group < 2; ++group) {
      for (int h = 0; h < 2; ++h) {
        const Index begin = std::min(count, (2 * group + h) * width);
        const Index end = std::min(count, begin + width);
        const MatrixView<T> target = travelling.half(group, h);
        heddle::impl::for_each_element(
            space, "heddle::eigen::dealt", n, end - begin,
            KOKKOS_LAMBDA(Index i, Index j) { target(i, j) = local(i, begin + j) * first * second; });
        parts.push_back({Kokkos::subview(target, Kokkos::ALL, Kokkos::make_pair(Index{0}, end - begin)),
                         (static_cast<Index>(group) * ranks + comm.rank()) * 2 * width + h * width});
      }
    }
    space.fence("heddle::eigen::dealt");
  }
  const double shift = largest.off > 0 ? 2 * impl::norm_over_ranks<T>(comm, n, parts) : 0;
  std::vector<double> values(static_cast<std::size_t>(n));
  std::vector<double> owners(static_cast<std::size_t>(n));
  std::vector<impl::OwnColumn<T>> columns;
  const auto added = static_cast<R>(shift);
  for (const impl::Part<T>& part : parts) {
    const MatrixView<T> X = part.columns;
    const Index begin = part.begin;
    Kokkos::parallel_for(
        "heddle::eigen::shift", Kokkos::RangePolicy<ExecutionSpace>(space, 0, X.extent(1)),
        KOKKOS_LAMBDA(Index j) { X(begin + j, j) += added; });
  }
  if (largest.off > 0) {
    impl::sweep_until_orthogonal<T>(travelling, impl::two_sided_criterion<T>(options.tolerance, n).tolerance, n,
                                    options, report);
  }
  // Halves have come home after a whole sweep, most likely to other slots.
  for (int group = 0; group < 2; ++group) {
    for (int h = 0; h < 2; ++h) {
      const impl::Part<T>& part = parts[static_cast<std::size_t>(2 * group + h)];
      const MatrixView<T> X = Kokkos::subview(travelling.half(group, h), Kokkos::ALL,
                                              Kokkos::make_pair(std::size_t{0}, part.columns.extent(1)));
      const std::vector<double> norms = impl::column_norms<T>(space, X);
      const bool diagonal = !(largest.off > 0);
      const Kokkos::View<R*, MemorySpace> corners(
          Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::corners"), X.extent(1));
      const Index begin = part.begin;
      Kokkos::parallel_for(
          "heddle::eigen::corners", Kokkos::RangePolicy<ExecutionSpace>(space, 0, X.extent(1)), KOKKOS_LAMBDA(Index j) {
            corners(j) = impl::real_part(X(begin + j, j));
            if (diagonal) {
              X(begin + j, j) = T(1);
            }
          });
      const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), corners);
      Kokkos::deep_copy(space, host, corners);
      space.fence("heddle::eigen::corners");
      for (std::size_t j = 0; j < norms.size(); ++j) {
        const Index number = begin + static_cast<Index>(j);
        const auto at = static_cast<std::size_t>(number);
        values[at] = diagonal ? static_cast<double>(host(j)) : norms[j] - static_cast<double>(added);
        owners[at] = comm.rank();
        columns.push_back(
            {number, Kokkos::subview(X, Kokkos::ALL, Kokkos::make_pair(j, j + 1)), diagonal ? 1.0 : 1 / norms[j]});
      }
    }
  }
  comm.all_reduce(std::span<double>(values), Reduction::sum);
  comm.all_reduce(std::span<double>(owners), Reduction::sum);
  const std::vector<Index> order = impl::ascending(values);
  std::vector<R> sorted;
  for (const Index at : order) {
    sorted.push_back(static_cast<R>(std::ldexp(values[static_cast<std::size_t>(at)], exponent)));
  }
  Kokkos::deep_copy(space, w, Kokkos::View<const R*, Kokkos::HostSpace>(sorted.data(), sorted.size()));
  space.fence("heddle::eigen::values");
  std::vector<int> owner(owners.begin(), owners.end());
  impl::deliver<T>(comm, n, columns, owner, order, V);
  space.fence("heddle::eigen::distributed_jacobi");
  return report;
}

#define HEDDLE_INSTANTIATE(T)                                                                              \
  template JacobiReport jacobi<T>(const Communicator&, const DistributedMatrix<T>&,                        \
                                  const Kokkos::View<Real<T>*, MemorySpace>&, const DistributedMatrix<T>&, \
                                  const JacobiOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen
