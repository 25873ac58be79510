// One-sided block Jacobi over all ranks: columns are dealt out, travel round the ranks, and are sorted into V.
#include "comm/failures/checked.hpp"
#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "dist/arguments.hpp"
#include "eigen/dense/power_method.hpp"
#include "eigen/dense/results.hpp"
#include "eigen/dense/scaling.hpp"
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

constexpr int preferred_block = 16;

// The largest part of this rank's elements, off the diagonal and all; infinity for a NaN.
template <Scalar T> struct LargestParts {
  Real<T> off = 0;
  Real<T> all = 0;

  KOKKOS_INLINE_FUNCTION LargestParts& operator+=(const LargestParts& other) {
    off = Kokkos::fmax(off, other.off);
    all = Kokkos::fmax(all, other.all);
    return *this;
  }
};
template <Scalar T> LargestParts<T> largest_parts(const Communicator& comm, const DistributedMatrix<T>& A) {
  using R = Real<T>;
  const MatrixView<T>& local = A.local();
  const auto rows = static_cast<Index>(local.extent(0));
  const CyclicAxis down = A.placement().row_axis();
  const CyclicAxis along = A.placement().column_axis();
  const int p = A.grid_row();
  const int q = A.grid_column();
  LargestParts<T> found;
  Kokkos::parallel_reduce(
      "heddle::eigen::largest_element",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(comm.space(), 0, static_cast<Index>(local.size())),
      KOKKOS_LAMBDA(Index at, LargestParts<T> & largest) {
        const Index i = at % rows;
        const Index j = at / rows;
        const R size = largest_part(local(i, j));
        largest += {down.global(p, i) == along.global(q, j) ? R(0) : size, size};
      },
      found);
  std::array<double, 2> both = {static_cast<double>(found.off), static_cast<double>(found.all)};
  comm.all_reduce(std::span<double>(both), Reduction::maximum);
  return {static_cast<R>(both[0]), static_cast<R>(both[1])};
}

// Columns of A that begin at `begin` of all, as a rank holds them.
template <Scalar T> struct Panel {
  MatrixView<T> columns;
  Index begin;
};

// |A|_2 from below, by the power method; x is whole on every rank.
template <Scalar T> double norm_over_ranks(const Communicator& comm, Index n, const std::vector<Panel<T>>& parts) {
  using R = Real<T>;
  constexpr int numbers = is_complex<T> ? 2 : 1;
  const ExecutionSpace& space = comm.space();
  const auto length = static_cast<std::size_t>(n);
  std::vector<double> x(numbers * length);
  StartNumbers start;
  std::generate(x.begin(), x.end(), [&] { return start.next(); });
  std::vector<T> unit(length);
  const auto norm = [&] { return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0)); };
  const auto multiply = [&](double by) {
    for (std::size_t i = 0; i < length; ++i) {
      if constexpr (is_complex<T>) {
        unit[i] = T(static_cast<R>(x[2 * i] / by), static_cast<R>(x[2 * i + 1] / by));
      } else {
        unit[i] = static_cast<T>(x[i] / by);
      }
    }
    const auto vector = on_device(space, "heddle::eigen::x", unit);
    std::fill(x.begin(), x.end(), 0.0);
    for (const Panel<T>& part : parts) {
      const std::vector<T> product = adjoint_product<T>(space, part.columns, vector);
      for (std::size_t j = 0; j < product.size(); ++j) {
        const std::size_t at = static_cast<std::size_t>(part.begin) + j;
        if constexpr (is_complex<T>) {
          x[2 * at] = static_cast<double>(product[j].real());
          x[2 * at + 1] = static_cast<double>(product[j].imag());
        } else {
          x[at] = static_cast<double>(product[j]);
        }
      }
    }
    comm.all_reduce(std::span<double>(x), Reduction::sum);
  };
  return power_method(norm, multiply);
}

// A column that this rank made: its number among all, its view, and the factor that makes its length 1.
template <Scalar T> struct OwnColumn {
  Index number;
  MatrixView<T> view;  // n x 1
  double factor;
};

// Columns of all ranks: the owner of each by its number, and the order in which they become columns of V.
struct Sorting {
  std::vector<int> owner;
  std::vector<Index> order;
};

// Columns of `mine` that belong to a rank's band of V, of length 1, in the order that they have in V.
template <Scalar T>
Dense<T> pack(const ExecutionSpace& space, Index n, std::vector<std::pair<Index, const OwnColumn<T>*>> mine) {
  std::sort(mine.begin(), mine.end(), [](const auto& one, const auto& other) { return one.first < other.first; });
  const Dense<T> packed = dense<T>(space, "heddle::eigen::outgoing", n, static_cast<Index>(mine.size()));
  for (std::size_t at = 0; at < mine.size(); ++at) {
    const MatrixView<T> from = mine[at].second->view;
    const auto factor = static_cast<Real<T>>(mine[at].second->factor);
    const auto j = static_cast<Index>(at);
    for_each_element(
        space, "heddle::eigen::pack", n, 1, KOKKOS_LAMBDA(Index i, Index) { packed(i, j) = from(i, 0) * factor; });
  }
  return packed;
}

// Columns go to their ranks' bands of V, in order; `columns` are this rank's.
template <Scalar T>
void deliver(const Communicator& comm, const std::vector<OwnColumn<T>>& columns, const Sorting& sorting,
             const DistributedMatrix<T>& V) {
  const ExecutionSpace& space = comm.space();
  const Index n = V.rows();
  const int ranks = comm.size();
  const Transport transport = comm.transport();
  const Placement bands = Placement::column_bands(n, n, ranks);
  const DistributedMatrix<T> sorted(comm, bands, "heddle::eigen::sorted");
  std::vector<Index> place(static_cast<std::size_t>(n));
  std::vector<std::vector<Index>> targets(static_cast<std::size_t>(ranks));
  for (Index j = 0; j < n; ++j) {
    const auto from = static_cast<std::size_t>(sorting.order[static_cast<std::size_t>(j)]);
    place[from] = j;
    if (bands.owner(0, j) == comm.rank()) {
      targets[static_cast<std::size_t>(sorting.owner[from])].push_back(bands.column_axis().local(j));
    }
  }
  std::vector<std::vector<std::pair<Index, const OwnColumn<T>*>>> leaving(static_cast<std::size_t>(ranks));
  for (const OwnColumn<T>& column : columns) {
    const Index j = place[static_cast<std::size_t>(column.number)];
    leaving[static_cast<std::size_t>(bands.owner(0, j))].emplace_back(j, &column);
  }
  std::vector<Dense<T>> outgoing;
  std::vector<Dense<T>> incoming;
  for (std::size_t other = 0; other < targets.size(); ++other) {
    outgoing.push_back(pack<T>(space, n, leaving[other]));
    incoming.push_back(dense<T>(space, "heddle::eigen::incoming", n, static_cast<Index>(targets[other].size())));
  }
  const heddle::impl::KeptWhereFailed kept(outgoing);
  std::vector<Request> requests;
  for (int other = 0; other < ranks; ++other) {
    const auto at = static_cast<std::size_t>(other);
    requests.push_back(
        transport.template receive<T>(MatrixView<T>(incoming[at]), other, heddle::impl::tag_jacobi_vectors));
    requests.push_back(
        transport.template send<T>(MatrixView<const T>(outgoing[at]), other, heddle::impl::tag_jacobi_vectors));
  }
  for (Request& request : requests) {
    request.wait();
  }
  for (std::size_t at = 0; at < incoming.size(); ++at) {
    const auto target = on_device(space, "heddle::eigen::targets", targets[at]);
    const Dense<T>& from = incoming[at];
    const MatrixView<T>& to = sorted.local();
    for_each_element(
        space, "heddle::eigen::unpack", n, static_cast<Index>(targets[at].size()),
        KOKKOS_LAMBDA(Index i, Index j) { to(i, target(j)) = from(i, j); });
  }
  redistribute(sorted, V);
}

// The columns of A, scaled, to the groups of halves that travel; gives where this rank's are.
template <Scalar T>
std::vector<Panel<T>> deal(const Communicator& comm, const DistributedMatrix<T>& A, Index width,
                           const PowerOfTwo<Real<T>>& scale, const TravellingColumns<T>& travelling) {
  const ExecutionSpace& space = comm.space();
  const Index n = A.rows();
  const int ranks = comm.size();
  const DistributedMatrix<T> dealt(comm, Placement::block_cyclic(n, n, n, 2 * width, 1, ranks), "heddle::eigen::dealt");
  redistribute(A, dealt);
  const MatrixView<T>& local = dealt.local();
  const auto count = static_cast<Index>(local.extent(1));
  std::vector<Panel<T>> parts;
  for (int group = 0; group < 2; ++group) {
    for (int h = 0; h < 2; ++h) {
      const Index begin = std::min(count, (2 * group + h) * width);
      const Index end = std::min(count, begin + width);
      const MatrixView<T> target = travelling.half(group, h);
      for_each_element(
          space, "heddle::eigen::dealt", n, end - begin,
          KOKKOS_LAMBDA(Index i, Index j) { target(i, j) = scale.times(local(i, begin + j)); });
      parts.push_back({Kokkos::subview(target, Kokkos::ALL, Kokkos::make_pair(Index{0}, end - begin)),
                       (static_cast<Index>(group) * ranks + comm.rank()) * 2 * width + h * width});
    }
  }
  space.fence("heddle::eigen::dealt");
  return parts;
}

// X = A + shift I, of which the part has columns.
template <Scalar T> void add_shift(const ExecutionSpace& space, const Panel<T>& part, Real<T> shift) {
  const MatrixView<T> X = part.columns;
  const Index begin = part.begin;
  Kokkos::parallel_for(
      "heddle::eigen::shift", Kokkos::RangePolicy<ExecutionSpace>(space, 0, X.extent(1)),
      KOKKOS_LAMBDA(Index j) { X(begin + j, j) += shift; });
}

// The diagonal of a matrix that is diagonal, whose columns become those of I.
template <Scalar T> std::vector<Real<T>> take_diagonal(const ExecutionSpace& space, const Panel<T>& part) {
  const MatrixView<T> X = part.columns;
  const Index begin = part.begin;
  const Values<Real<T>> corners(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::corners"),
                                X.extent(1));
  Kokkos::parallel_for(
      "heddle::eigen::corners", Kokkos::RangePolicy<ExecutionSpace>(space, 0, X.extent(1)), KOKKOS_LAMBDA(Index j) {
        corners(j) = real_part(X(begin + j, j));
        X(begin + j, j) = T(1);
      });
  return to_host(space, "heddle::eigen::corners", corners);
}

void require_for_ranks(const JacobiOptions& options) {
  require(options.method == JacobiMethod::automatic || options.method == JacobiMethod::blocked,
          "eigen::jacobi over ranks: method \"", to_string(options.method), "\"; expected automatic or blocked");
  require(options.accuracy != JacobiAccuracy::relative,
          "eigen::jacobi over ranks: accuracy \"relative\"; expected automatic or norm");
  require(!options.warm_start && !options.lower_precision, "eigen::jacobi over ranks has no warm start");
}

}  // namespace
}  // namespace impl

template <Scalar T>
JacobiReport jacobi(const Communicator& comm, const DistributedMatrix<T>& A,
                    const Kokkos::View<Real<T>*, MemorySpace>& w, const DistributedMatrix<T>& V,
                    const JacobiOptions& options) {
  return comm.together([&] {
    using R = Real<T>;
    const Kokkos::Profiling::ScopedRegion region("heddle::eigen::distributed_jacobi");
    const Index n = A.rows();
    const ExecutionSpace& space = comm.space();
    heddle::impl::require_same_ranks("eigen::jacobi", "A", A, comm);
    heddle::impl::require_same_ranks("eigen::jacobi", "V", V, comm);
    impl::require_shapes(n, A.columns(), static_cast<Index>(w.extent(0)));
    impl::require_vectors(V.rows(), V.columns(), n);
    impl::require_options(options);
    impl::require_for_ranks(options);
    JacobiReport report;
    report.method = JacobiMethod::blocked;
    report.accuracy = JacobiAccuracy::norm;
    if (n == 0) {
      return report;
    }
    const impl::LargestParts<T> largest = impl::largest_parts<T>(comm, A);
    require(std::isfinite(largest.all), "eigen::jacobi: A has elements that are NaN or infinite");
    // A diagonal is returned as it is: scaled, the least of it might vanish.
    const bool diagonal = !(largest.off > 0);
    const int exponent = diagonal ? 0 : impl::exponent_above(largest.all);

    const int ranks = comm.size();
    const auto [block, half] =
        impl::TravellingColumns<T>::chosen_blocks(n, ranks, options.block, impl::preferred_block);
    const Index width = Index{half} * block;  // Of a half; groups of two halves are dealt out in turn.
    impl::TravellingColumns<T> travelling(comm, n, block, half);
    // Columns of this rank, in halves of its upper and its lower group.
    std::vector<impl::Panel<T>> parts = impl::deal<T>(comm, A, width, impl::PowerOfTwo<R>(-exponent), travelling);
    R shift = 0;
    if (!diagonal) {
      shift = static_cast<R>(2 * impl::norm_over_ranks<T>(comm, n, parts));
      for (const impl::Panel<T>& part : parts) {
        impl::add_shift<T>(space, part, shift);
      }
      impl::sweep_until_orthogonal<T>(travelling, impl::criterion_for<T>(options.tolerance, n).tolerance, n, options,
                                      report);
    }
    std::vector<double> values(static_cast<std::size_t>(n));
    std::vector<double> owners(static_cast<std::size_t>(n));
    std::vector<impl::OwnColumn<T>> columns;
    for (std::size_t at = 0; at < parts.size(); ++at) {
      // Halves have come home after a whole sweep, most likely to other slots.
      impl::Panel<T>& part = parts[at];
      part.columns = Kokkos::subview(travelling.half(static_cast<int>(at) / 2, static_cast<int>(at) % 2), Kokkos::ALL,
                                     Kokkos::make_pair(std::size_t{0}, part.columns.extent(1)));
      const std::vector<R> corners = diagonal ? impl::take_diagonal<T>(space, part) : std::vector<R>();
      const std::vector<double> norms = diagonal ? std::vector<double>() : impl::column_norms<T>(space, part.columns);
      for (std::size_t j = 0; j < part.columns.extent(1); ++j) {
        const Index number = part.begin + static_cast<Index>(j);
        values[static_cast<std::size_t>(number)] =
            diagonal ? static_cast<double>(corners[j]) : norms[j] - static_cast<double>(shift);
        owners[static_cast<std::size_t>(number)] = comm.rank();
        columns.push_back({number, Kokkos::subview(part.columns, Kokkos::ALL, Kokkos::make_pair(j, j + 1)),
                           diagonal ? 1.0 : 1 / norms[j]});
      }
    }
    comm.all_reduce(std::span<double>(values), Reduction::sum);
    comm.all_reduce(std::span<double>(owners), Reduction::sum);
    const std::vector<Index> order = impl::ascending(values);
    impl::store_values<R>(space, values, order, exponent, strided(w));
    impl::deliver<T>(comm, columns, {std::vector<int>(owners.begin(), owners.end()), order}, V);
    space.fence("heddle::eigen::distributed_jacobi");
    return report;
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                              \
  template JacobiReport jacobi<T>(const Communicator&, const DistributedMatrix<T>&,                        \
                                  const Kokkos::View<Real<T>*, MemorySpace>&, const DistributedMatrix<T>&, \
                                  const JacobiOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen
