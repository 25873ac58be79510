// One-sided block Jacobi over all ranks: columns are dealt out, travel between ranks, and are sorted into V.
#include "comm/failures/checked.hpp"
#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "dist/arguments.hpp"
#include "eigen/dense/power_method.hpp"
#include "eigen/dense/results.hpp"
#include "eigen/dense/scaling.hpp"
#include "eigen/distributed/round_robin_columns.hpp"
#include "eigen/distributed/travelling.hpp"
#include <heddle/eigen/distributed.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

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
std::vector<Panel<T>> deal(const Communicator& comm, const DistributedMatrix<T>& A, const PowerOfTwo<Real<T>>& scale,
                           const TravellingColumns<T>& travelling) {
  const ExecutionSpace& space = comm.space();
  const Index n = A.rows();
  const int ranks = comm.size();
  const Index width = travelling.width();
  const DistributedMatrix<T> dealt(comm, Placement::block_cyclic(n, n, n, 2 * width, 1, ranks), "heddle::eigen::dealt");
  redistribute(A, dealt);
  const MatrixView<T>& local = dealt.local();
  const auto count = static_cast<Index>(local.extent(1));
  std::vector<Panel<T>> panels;
  for (int at = 0; at < 4; ++at) {
    const Index begin = std::min(count, at * width);
    const Index end = std::min(count, begin + width);
    const MatrixView<T> target = travelling.home(at);
    for_each_element(
        space, "heddle::eigen::dealt", n, end - begin,
        KOKKOS_LAMBDA(Index i, Index j) { target(i, j) = scale.times(local(i, begin + j)); });
    panels.push_back({Kokkos::subview(target, Kokkos::ALL, Kokkos::make_pair(Index{0}, end - begin)),
                      (Index{at / 2} * ranks + comm.rank()) * 2 * width + at % 2 * width});
  }
  space.fence("heddle::eigen::dealt");
  return panels;
}

// The same to the blocks of the round-robin order. Blocks are dealt out in turn first, and sent on whole from there.
template <Scalar T>
std::vector<Panel<T>> deal(const Communicator& comm, const DistributedMatrix<T>& A, const PowerOfTwo<Real<T>>& scale,
                           const RoundRobinColumns<T>& blocks) {
  const ExecutionSpace& space = comm.space();
  const Transport transport = comm.transport();
  const Index n = A.rows();
  const int ranks = comm.size();
  const Index width = blocks.width();
  const DistributedMatrix<T> dealt(comm, Placement::block_cyclic(n, n, n, width, 1, ranks), "heddle::eigen::dealt");
  redistribute(A, dealt);
  const Dense<T> incoming = dense<T>(space, "heddle::eigen::incoming", n, blocks.blocks() * width);
  const heddle::impl::KeptWhereFailed kept(std::pair(incoming, dealt.local()));
  std::vector<Request> requests;
  std::vector<Panel<T>> panels;
  for (Index at = 0; at < blocks.blocks(); ++at) {
    const int number = blocks.number(static_cast<int>(at));
    const Index begin = std::min(n, number * width);
    const Index count = std::min(width, n - begin);
    requests.push_back(transport.template receive<T>(
        MatrixView<T>(Kokkos::subview(incoming, Kokkos::ALL, Kokkos::make_pair(at * width, at * width + count))),
        number % ranks, heddle::impl::tag_jacobi));
    panels.push_back(
        {Kokkos::subview(blocks.home(static_cast<int>(at)), Kokkos::ALL, Kokkos::make_pair(Index{0}, count)), begin});
  }
  const auto columns = static_cast<Index>(dealt.local().extent(1));
  for (Index begin = 0; begin < columns; begin += width) {
    const Index number = begin / width * ranks + comm.rank();
    requests.push_back(transport.template send<T>(
        MatrixView<const T>(
            Kokkos::subview(dealt.local(), Kokkos::ALL, Kokkos::make_pair(begin, std::min(columns, begin + width)))),
        blocks.shares().owner(static_cast<int>(number)), heddle::impl::tag_jacobi));
  }
  for (Request& request : requests) {
    request.wait();
  }
  for (std::size_t at = 0; at < panels.size(); ++at) {
    const MatrixView<T> target = panels[at].columns;
    const Index begin = static_cast<Index>(at) * width;
    for_each_element(
        space, "heddle::eigen::dealt", n, static_cast<Index>(target.extent(1)),
        KOKKOS_LAMBDA(Index i, Index j) { target(i, j) = scale.times(incoming(i, begin + j)); });
  }
  space.fence("heddle::eigen::dealt");
  return panels;
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

// Numbers of the columns of all ranks, those of each panel in turn.
class OfAllColumns {
 public:
  explicit OfAllColumns(Index n) : numbers_(static_cast<std::size_t>(n)) {}

  template <class Numbers> void put(Index begin, const Numbers& numbers) {
    std::copy(numbers.begin(), numbers.end(), numbers_.begin() + begin);
  }
  // The numbers of all ranks, each of which has put its own.
  [[nodiscard]] std::vector<double> joined(const Communicator& comm) {
    comm.all_reduce(std::span<double>(numbers_), Reduction::sum);
    return std::move(numbers_);
  }

 private:
  std::vector<double> numbers_;
};

// Eigenvalues of all ranks, scaled, and columns of this rank's panels as eigenvectors that are `lengths` long.
struct Solution {
  std::vector<double> values;
  std::vector<double> lengths;
};

// A diagonal is returned as it is.
template <Scalar T> Solution of_diagonal(const Communicator& comm, Index n, const std::vector<Panel<T>>& panels) {
  OfAllColumns values(n);
  for (const Panel<T>& panel : panels) {
    if (panel.columns.extent(1) > 0) {
      values.put(panel.begin, take_diagonal<T>(comm.space(), panel));
    }
  }
  return {values.joined(comm), std::vector<double>(static_cast<std::size_t>(n), 1.0)};
}

// Columns of A + shift I made orthogonal, as jacobi() of one rank does it; panels are where they are in the end.
template <Scalar T, class Columns>
Solution orthogonalise(const Communicator& comm, const DistributedMatrix<T>& A, const PowerOfTwo<Real<T>>& scale,
                       const JacobiOptions& options, Columns& columns, std::vector<Panel<T>>& panels,
                       JacobiReport& report) {
  using R = Real<T>;
  const Index n = A.rows();
  double shift = 2 * static_cast<double>(norm_estimate<T>(comm, n, panels));
  while (true) {
    const R added = static_cast<R>(shift);
    for (const Panel<T>& panel : panels) {
      add_shift<T>(comm.space(), panel, added);
    }
    sweep_until_orthogonal<T>(columns, criterion_for<T>(options.tolerance, n).tolerance, n, options, report);
    OfAllColumns norms(n);
    for (std::size_t at = 0; at < panels.size(); ++at) {
      Panel<T>& panel = panels[at];
      if (panel.columns.extent(1) > 0) {
        // Columns are at home after a whole sweep, most likely in other slots.
        panel.columns = Kokkos::subview(columns.home(static_cast<int>(at)), Kokkos::ALL,
                                        Kokkos::make_pair(std::size_t{0}, panel.columns.extent(1)));
        norms.put(panel.begin, column_norms<T>(comm.space(), panel.columns));
      }
    }
    Solution solution;
    solution.lengths = norms.joined(comm);
    // A norm estimated far too low: an eigenvalue near -shift.
    if (*std::min_element(solution.lengths.begin(), solution.lengths.end()) < shift / 8) {
      shift *= 4;
      report.off_norms.clear();
      report.sweeps = 0;
      panels = deal<T>(comm, A, scale, columns);
      continue;
    }
    for (const double length : solution.lengths) {
      solution.values.push_back(length - static_cast<double>(added));
    }
    return solution;
  }
}

// The eigensystem of A, by rotations of `columns`.
template <Scalar T, class Columns>
void solve(const Communicator& comm, const DistributedMatrix<T>& A, const LargestParts<T>& largest,
           const JacobiOptions& options, Columns&& columns, const Kokkos::View<Real<T>*, MemorySpace>& w,
           const DistributedMatrix<T>& V, JacobiReport& report) {
  const Index n = A.rows();
  const ExecutionSpace& space = comm.space();
  // Scaled, the least element of a diagonal might vanish.
  const bool diagonal = !(largest.off > 0);
  const int exponent = diagonal ? 0 : exponent_above(largest.all);
  const PowerOfTwo<Real<T>> scale(-exponent);
  std::vector<Panel<T>> panels = deal<T>(comm, A, scale, columns);
  const Solution solution =
      diagonal ? of_diagonal<T>(comm, n, panels) : orthogonalise<T>(comm, A, scale, options, columns, panels, report);
  OfAllColumns ranks(n);
  std::vector<OwnColumn<T>> mine;
  for (const Panel<T>& panel : panels) {
    for (std::size_t j = 0; j < panel.columns.extent(1); ++j) {
      const Index number = panel.begin + static_cast<Index>(j);
      ranks.put(number, std::array<double, 1>{static_cast<double>(comm.rank())});
      mine.push_back({number, Kokkos::subview(panel.columns, Kokkos::ALL, Kokkos::make_pair(j, j + 1)),
                      1 / solution.lengths[static_cast<std::size_t>(number)]});
    }
  }
  const std::vector<double> owners = ranks.joined(comm);
  const std::vector<Index> order = ascending(solution.values);
  store_values<Real<T>>(space, solution.values, order, exponent, strided(w));
  deliver<T>(comm, mine, {std::vector<int>(owners.begin(), owners.end()), order}, V);
  space.fence("heddle::eigen::distributed_jacobi");
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
    const Kokkos::Profiling::ScopedRegion region("heddle::eigen::distributed_jacobi");
    const Index n = A.rows();
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
    if (options.reproducible) {
      impl::solve<T>(comm, A, largest, options, impl::RoundRobinColumns<T>(comm, n, options.block), w, V, report);
    } else {
      const auto [block, half] =
          impl::TravellingColumns<T>::chosen_blocks(n, comm.size(), options.block, impl::preferred_block);
      impl::solve<T>(comm, A, largest, options, impl::TravellingColumns<T>(comm, n, block, half), w, V, report);
    }
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
