// Substitution with a triangle whose columns are dealt out.
#include "solve/system/substitution.hpp"

#include "core/instantiate.hpp"
#include "solve/grid/rank_grid.hpp"
#include <heddle/transpose/transpose.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <string>

namespace heddle::impl {
namespace {

constexpr int run_tag = 13;

}  // namespace

template <Scalar T>
Substitution<T>::Substitution(const ExecutionSpace& space, const Communicator* comm, const LuSchedule& schedule,
                              const CyclicAxis& columns, const CyclicAxis& right, Arithmetic arithmetic)
    : schedule_(schedule),
      columns_(columns),
      right_(right),
      subtract_(space, arithmetic, schedule.block, right.block, schedule.rows,
                right.count(comm != nullptr ? comm->rank() : 0),
                std::max<Index>(1, std::min(schedule.group * schedule.block, schedule.rows))) {
  if (comm == nullptr || comm->size() == 1) return;
  comm_ = *comm;
  transport_ = transport_of(*comm);
  const auto memory = [&](const std::string& label, Index count) {
    return Kokkos::View<T*, MemorySpace>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label),
                                         static_cast<std::size_t>(count));
  };
  const Index width = std::min(schedule.group * schedule.block, schedule.columns);
  brought_ = memory("heddle::solve::brought", wanted_by(rank()) ? schedule.rows * width : 0);
  for (auto& message : messages_)
    message = memory("heddle::solve::run", schedule.rows * std::min(columns.block, width));
}

template <Scalar T>
void Substitution<T>::bring_run(const MatrixView<T>& M, Range rows, Range run, const MatrixView<T>& place) {
  const ExecutionSpace& space = subtract_.space();
  const int owner = columns_.owner(run.begin);
  turn_ = 1 - turn_;
  for (Request& sent : sends_[turn_]) sent.wait();
  sends_[turn_].clear();
  const auto message = Kokkos::subview(messages_[turn_], Kokkos::pair<Index, Index>(0, rows.size() * run.size()));
  const MatrixView<T> packed = matrix_view(message.data(), rows.size(), run.size(), rows.size());
  if (rank() == owner) {
    const Range mine = columns_.locals(owner, run);
    copy_elements<T>(space, "heddle::solve::pack_run", block_of(M, rows.begin, rows.end, mine.begin, mine.end), packed);
    for (int other = 0; other < comm_->size(); ++other) {
      if (other == owner || !wanted_by(other)) continue;
      sends_[turn_].push_back(transport_->send<T>(Kokkos::View<const T*, MemorySpace>(message), other, run_tag));
    }
  } else if (wanted_by(rank())) {
    transport_->receive<T>(Kokkos::View<T*, MemorySpace>(message), owner, run_tag).wait();
  }
  if (wanted_by(rank())) copy_elements<T>(space, "heddle::solve::unpack_run", packed, place);
}

template <Scalar T> MatrixView<T> Substitution<T>::bring(const MatrixView<T>& M, Range rows, Range columns) {
  if (!comm_) {
    const MatrixView<T> here = block_of(M, rows.begin, rows.end, columns.begin, columns.end);
    if (!in_host_memory_) return here;
    grow(subtract_.space(), "heddle::solve::brought",
         schedule_.rows * std::min(schedule_.group * schedule_.block, schedule_.columns), brought_);
    const MatrixView<T> copy = matrix_view(brought_.data(), rows.size(), columns.size(), rows.size());
    copy_elements<T>(subtract_.space(), "heddle::solve::bring", here, copy);
    return copy;
  }
  const MatrixView<T> all = wanted_by(rank()) ? matrix_view(brought_.data(), rows.size(), columns.size(), rows.size())
                                              : matrix_view<T>(nullptr, 0, 0, 1);
  for (Index begin = columns.begin; begin < columns.end;) {
    const Index end = std::min(columns.end, (begin / columns_.block + 1) * columns_.block);
    const MatrixView<T> place =
        wanted_by(rank()) ? block_of(all, 0, rows.size(), begin - columns.begin, end - columns.begin) : all;
    bring_run(M, rows, {begin, end}, place);
    begin = end;
  }
  return all;
}

template <Scalar T>
void Substitution<T>::solve_group(const MatrixView<T>& M, Range group, bool lower, Diagonal diagonal,
                                  const MatrixView<T>& X) {
  const Index n = schedule_.rows;
  const Range rows = lower ? Range{group.begin, n} : Range{0, group.end};
  const MatrixView<T> brought = bring(M, rows, group);
  const auto columns = static_cast<Index>(X.extent(1));
  if (columns == 0) return;
  const auto of_x = [&](Range of) { return block_of(X, of.begin, of.end, 0, columns); };
  const auto of_m = [&](Range of) {
    return block_of<const T>(brought, of.begin - rows.begin, of.end - rows.begin, 0, group.size());
  };
  const Range rest = lower ? Range{group.end, n} : Range{0, group.begin};
  subtract_.solve(lower ? Triangle::lower : Triangle::upper, diagonal, of_m(group), of_x(group));
  subtract_(of_m(rest), of_x(group), of_x(rest));
}

template <Scalar T>
void Substitution<T>::solve_group_transposed(const MatrixView<T>& M, Range group, bool lower, Operation op,
                                             Diagonal diagonal, const MatrixView<T>& X) {
  const Index n = schedule_.rows;
  const Range rows = lower ? Range{group.begin, n} : Range{0, group.end};
  const MatrixView<T> brought = bring(M, rows, group);
  const auto columns = static_cast<Index>(X.extent(1));
  if (columns == 0) return;
  const Index width = std::min(schedule_.group * schedule_.block, n);
  if (transposed_.extent(0) == 0) {
    transposed_ = Kokkos::View<T*, MemorySpace>(
        Kokkos::view_alloc(subtract_.space(), Kokkos::WithoutInitializing, "heddle::solve::transposed"),
        static_cast<std::size_t>(n * width));
  }
  const MatrixView<T> turned = matrix_view(transposed_.data(), group.size(), rows.size(), group.size());
  transpose(subtract_.space(), T(1), brought, op, turned);
  const auto of_x = [&](Range of) { return block_of(X, of.begin, of.end, 0, columns); };
  const auto of_m = [&](Range of) {
    return block_of<const T>(turned, 0, group.size(), of.begin - rows.begin, of.end - rows.begin);
  };
  // Subtract products with the rows of X computed so far, group by group in their order.
  const Index own = group.begin / width;
  for (Index k = lower ? (n - 1) / width : 0; k != own; k += lower ? -1 : 1) {
    const Range other = {k * width, std::min((k + 1) * width, n)};
    subtract_(of_m(other), of_x(other), of_x(group));
  }
  subtract_.solve(lower ? Triangle::upper : Triangle::lower, diagonal, of_m(group), of_x(group));
}

template <Scalar T>
void Substitution<T>::solve(Triangle triangle, Operation op, Diagonal diagonal, const MatrixView<T>& M,
                            const MatrixView<T>& X, bool in_host_memory) {
  in_host_memory_ = in_host_memory;
  const Kokkos::Profiling::ScopedRegion region("heddle::solve::triangle");
  const bool lower = triangle == Triangle::lower;
  const bool upwards = lower == (op == Operation::none);
  const Index n = schedule_.rows;
  const Index width = std::max<Index>(1, std::min(schedule_.group * schedule_.block, n));
  const Index groups = (n + width - 1) / width;
  for (Index k = 0; k < groups; ++k) {
    const Index begin = (upwards ? k : groups - 1 - k) * width;
    const Range group = {begin, std::min(begin + width, n)};
    if (op == Operation::none) {
      solve_group(M, group, lower, diagonal, X);
    } else {
      solve_group_transposed(M, group, lower, op, diagonal, X);
    }
  }
  for (auto& sends : sends_) {
    for (Request& sent : sends) sent.wait();
    sends.clear();
  }
}

template <Scalar T>
double Substitution<T>::bytes(const LuSchedule& schedule, const CyclicAxis& columns, const CyclicAxis& right,
                              Operation op, Arithmetic arithmetic, Residence residence) {
  const Index n = schedule.rows;
  const Index width = std::max<Index>(1, std::min(schedule.group * schedule.block, n));
  std::set<Index> inner;
  for (Index begin = 0; begin < n; begin += width) {
    const Index size = std::min(width, n - begin);
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      Subtraction<T>::add_inner(size, schedule.block, triangle, inner);
    }
    if (n > width) inner.insert(size);
  }
  const double of_products = most_of_ranks(RankGrid::of_columns(n, right, 0), [&](const RankGrid& here) {
    const Index mine = here.column_count();
    return mine == 0 ? 0.0 : Subtraction<T>::bytes(arithmetic, schedule.block, n, mine, mine, width, inner);
  });
  double elements = op == Operation::none ? 0.0 : size_of_matrix(n, width);
  if (columns.processes > 1) elements += size_of_matrix(n, width + 2 * std::min(columns.block, width));
  if (columns.processes == 1 && residence == Residence::host) elements += size_of_matrix(n, width);
  return of_products + sizeof(T) * elements;
}

#define HEDDLE_INSTANTIATE(T) template class Substitution<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
