#include "comm/tags.hpp"
#include "core/instantiate.hpp"
#include "dist/elementwise.hpp"
#include <heddle/comm/transport.hpp>
#include <heddle/dist/matrix.hpp>

#include <vector>

namespace heddle {
namespace {

// Some local indices, rising: a range, or a list where they have gaps.
struct Locals {
  Index first = 0;
  Index count = 0;
  Kokkos::View<Index*, MemorySpace> list;  // Only where there are gaps.

  [[nodiscard]] bool is_range() const { return list.data() == nullptr; }
};

Locals make_locals(const ExecutionSpace& space, const std::vector<Index>& indices) {
  Locals locals;
  locals.count = static_cast<Index>(indices.size());
  if (indices.empty()) {
    return locals;
  }
  locals.first = indices.front();
  if (indices.back() - indices.front() + 1 != locals.count) {
    locals.list = Kokkos::View<Index*, MemorySpace>(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::dist::indices"), indices.size());
    Kokkos::deep_copy(space, locals.list,
                      Kokkos::View<const Index*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                          indices.data(), indices.size()));
    space.fence("heddle::dist::indices");
  }
  return locals;
}

// Local indices of `mine` (owned by `process`), sorted by who owns the same global index in `other`. Within one owner
// they rise with the global index, so sender and receiver list the same elements in the same order.
std::vector<Locals> by_other_owner(const ExecutionSpace& space, const CyclicAxis& mine, int process,
                                   const CyclicAxis& other) {
  std::vector<std::vector<Index>> lists(static_cast<std::size_t>(other.processes));
  for (Index k = 0; k < mine.count(process); ++k) {
    lists[static_cast<std::size_t>(other.owner(mine.global(process, k)))].push_back(k);
  }
  std::vector<Locals> result;
  result.reserve(lists.size());
  for (const auto& list : lists) {
    result.push_back(make_locals(space, list));
  }
  return result;
}

// One rank's side of the exchange: for each rank of the other placement, the local rows and columns that it shares.
class Shares {
 public:
  Shares(const Communicator& comm, const Placement& mine, const Placement& other)
      : inside_(mine.in_grid(comm.rank())), other_(other) {
    if (inside_) {
      rows_ = by_other_owner(comm.space(), mine.row_axis(), mine.grid_row(comm.rank()), other.row_axis());
      columns_ = by_other_owner(comm.space(), mine.column_axis(), mine.grid_column(comm.rank()), other.column_axis());
    }
  }
  [[nodiscard]] bool empty(int rank) const {
    return !inside_ || !other_.in_grid(rank) || rows(rank).count * columns(rank).count == 0;
  }
  [[nodiscard]] const Locals& rows(int rank) const { return rows_[static_cast<std::size_t>(other_.grid_row(rank))]; }
  [[nodiscard]] const Locals& columns(int rank) const {
    return columns_[static_cast<std::size_t>(other_.grid_column(rank))];
  }
  [[nodiscard]] Index size(int rank) const { return empty(rank) ? 0 : rows(rank).count * columns(rank).count; }
  // Whether what is shared with the rank is one block of the local matrix.
  [[nodiscard]] bool is_block(int rank) const { return rows(rank).is_range() && columns(rank).is_range(); }
  template <class T> [[nodiscard]] MatrixView<T> block(const MatrixView<T>& local, int rank) const {
    const Locals& i = rows(rank);
    const Locals& j = columns(rank);
    return impl::block_of(local, i.first, i.first + i.count, j.first, j.first + j.count);
  }
  // Whether that block is one run of memory, which travels as it lies.
  template <class T> [[nodiscard]] bool is_contiguous(const MatrixView<T>& local, int rank) const {
    return is_block(rank) && (columns(rank).count == 1 || rows(rank).count == static_cast<Index>(local.stride(1)));
  }

 private:
  bool inside_;
  Placement other_;
  std::vector<Locals> rows_;
  std::vector<Locals> columns_;
};

template <Scalar T> using Buffer = Kokkos::View<T*, MemorySpace>;

template <Scalar T> Buffer<T> make_buffer(const ExecutionSpace& space, Index size) {
  return Buffer<T>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::dist::exchange"),
                   static_cast<std::size_t>(size));
}

// The elements shared with a rank, as one message: where they lie, or in a buffer of their own.
template <Scalar T>
Buffer<T> message_of(const MatrixView<T>& local, const Shares& shares, int rank, const ExecutionSpace& space) {
  if (shares.is_contiguous(local, rank)) {
    return Buffer<T>(shares.block(local, rank).data(), static_cast<std::size_t>(shares.size(rank)));
  }
  return make_buffer<T>(space, shares.size(rank));
}

// A position in a list of local indices, in a kernel.
struct Position {
  Index first;
  const Index* list;
  explicit Position(const Locals& locals)
      : first(locals.first), list(locals.is_range() ? nullptr : locals.list.data()) {}
  KOKKOS_INLINE_FUNCTION Index operator()(Index k) const { return list == nullptr ? first + k : list[k]; }
};

template <Scalar T>
void pack(const ExecutionSpace& space, const MatrixView<T>& local, const Shares& shares, int rank,
          const Buffer<T>& buffer) {
  const Index height = shares.rows(rank).count;
  const Index width = shares.columns(rank).count;
  if (shares.is_block(rank)) {
    impl::copy_elements<T>(space, "heddle::dist::pack", shares.block(local, rank),
                           impl::matrix_view(buffer.data(), height, width, height));
    return;
  }
  const impl::Elements<T> from(local);
  const Position row(shares.rows(rank));
  const Position column(shares.columns(rank));
  impl::for_each_element(
      space, "heddle::dist::pack", height, width,
      KOKKOS_LAMBDA(Index i, Index j) { buffer(i + j * height) = from(row(i), column(j)); });
}

template <Scalar T>
void unpack(const ExecutionSpace& space, const Buffer<T>& buffer, const Shares& shares, int rank,
            const MatrixView<T>& local) {
  const Index height = shares.rows(rank).count;
  const Index width = shares.columns(rank).count;
  if (shares.is_block(rank)) {
    const T* const data = buffer.data();
    impl::copy_elements<T>(space, "heddle::dist::unpack", impl::matrix_view(data, height, width, height),
                           shares.block(local, rank));
    return;
  }
  const impl::Elements<T> to(local);
  const Position row(shares.rows(rank));
  const Position column(shares.columns(rank));
  impl::for_each_element(
      space, "heddle::dist::unpack", height, width,
      KOKKOS_LAMBDA(Index i, Index j) { to(row(i), column(j)) = buffer(i + j * height); });
}

}  // namespace

template <Scalar T> void redistribute(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B) {
  require(A.rows() == B.rows() && A.columns() == B.columns(), "redistribute: from ", A.placement().describe(), " to ",
          B.placement().describe(), "; expected equal shapes");
  const Communicator& comm = A.communicator();
  const ExecutionSpace& space = comm.space();
  if (A.placement() == B.placement()) {
    copy(A, B);
    space.fence("heddle::dist::redistribute");
    return;
  }
  const auto transport = transport_of(comm);
  const Shares outgoing(comm, A.placement(), B.placement());
  const Shares incoming(comm, B.placement(), A.placement());

  struct Arrival {
    int rank;
    Buffer<T> buffer;
    Request request;
  };
  std::vector<Arrival> arrivals;
  std::vector<Request> departures;
  // Partners by rising distance, so that not all ranks turn to the same one first.
  for (int step = 1; step < comm.size(); ++step) {
    const int source = (comm.rank() + comm.size() - step) % comm.size();
    if (!incoming.empty(source)) {
      const auto buffer = message_of(B.local(), incoming, source, space);
      arrivals.push_back({source, buffer, transport->receive<T>(buffer, source, impl::tag_redistribute)});
    }
  }
  for (int step = 1; step < comm.size(); ++step) {
    const int destination = (comm.rank() + step) % comm.size();
    if (!outgoing.empty(destination)) {
      const auto buffer = message_of(A.local(), outgoing, destination, space);
      if (!outgoing.is_contiguous(A.local(), destination)) {
        pack(space, A.local(), outgoing, destination, buffer);
      }
      departures.push_back(
          transport->send<T>(Kokkos::View<const T*, MemorySpace>(buffer), destination, impl::tag_redistribute));
    }
  }
  if (const int self = comm.rank(); !outgoing.empty(self)) {
    if (outgoing.is_block(self) && incoming.is_block(self)) {
      impl::copy_elements<T>(space, "heddle::dist::copy", outgoing.block(A.local(), self),
                             incoming.block(B.local(), self));
    } else {
      const auto buffer = make_buffer<T>(space, outgoing.size(self));
      pack(space, A.local(), outgoing, self, buffer);
      unpack(space, buffer, incoming, self, B.local());
    }
  }
  for (Arrival& arrival : arrivals) {
    arrival.request.wait();
    if (!incoming.is_contiguous(B.local(), arrival.rank)) {
      unpack(space, arrival.buffer, incoming, arrival.rank, B.local());
    }
  }
  for (Request& departure : departures) {
    departure.wait();
  }
  transport->drain();
  space.fence("heddle::dist::redistribute");
}

template <Scalar T> HostMatrix<T> gather(const DistributedMatrix<T>& A, int root) {
  const Communicator& comm = A.communicator();
  const DistributedMatrix<T> whole(comm, Placement::on_rank(A.rows(), A.columns(), root), "gathered");
  redistribute(A, whole);
  HostMatrix<T> result(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::dist::gathered"),
                       whole.local().extent(0), whole.local().extent(1));
  const Kokkos::View<const T**, Kokkos::LayoutLeft, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> dense(
      whole.local().data(), whole.local().extent(0), whole.local().extent(1));
  Kokkos::deep_copy(comm.space(), result, dense);
  comm.space().fence("heddle::dist::gather");
  return result;
}

template <Scalar T> void scatter(const HostMatrix<T>& whole, int root, const DistributedMatrix<T>& A) {
  const Communicator& comm = A.communicator();
  int fits = 1;
  if (comm.rank() == root) {
    fits =
        static_cast<Index>(whole.extent(0)) == A.rows() && static_cast<Index>(whole.extent(1)) == A.columns() ? 1 : 0;
  }
  comm.broadcast(std::span<int>(&fits, 1), root);
  require(fits == 1, "scatter: the matrix on rank ", root, " is not ", A.rows(), " x ", A.columns());
  const DistributedMatrix<T> source(comm, Placement::on_rank(A.rows(), A.columns(), root), "to_scatter");
  if (comm.rank() == root) {
    const Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> dense(
        source.local().data(), whole.extent(0), whole.extent(1));
    Kokkos::deep_copy(comm.space(), dense, whole);
  }
  redistribute(source, A);
}

#define HEDDLE_INSTANTIATE(T)                                                              \
  template void redistribute<T>(const DistributedMatrix<T>&, const DistributedMatrix<T>&); \
  template HostMatrix<T> gather<T>(const DistributedMatrix<T>&, int);                      \
  template void scatter<T>(const HostMatrix<T>&, int, const DistributedMatrix<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
