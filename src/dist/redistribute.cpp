// Redistribution, gathering and scattering of distributed matrices.
#include "comm/transports/tags.hpp"
#include "core/instantiate.hpp"
#include "dist/arguments.hpp"
#include "dist/copies.hpp"
#include "dist/redistribution.hpp"
#include <heddle/dist/matrix.hpp>

namespace heddle {
namespace {

// Takes elements as they are.
template <Scalar T> class Copied {
 public:
  explicit Copied(const MatrixView<T>& matrix) : matrix_(matrix) {}
  [[nodiscard]] const MatrixView<T>& matrix() const { return matrix_; }
  [[nodiscard]] static bool crossed() { return false; }
  [[nodiscard]] static bool takes_as_it_is() { return true; }
  void place(const ExecutionSpace& space, impl::PanelPool<T>& /*pool*/, const MatrixView<const T>& block,
             const impl::Share& part) const {
    impl::unpack(space, block, part, matrix_);
  }

 private:
  MatrixView<T> matrix_;
};

void require_root(const char* of, int root, const Communicator& comm) {
  require(root >= 0 && root < comm.size(), of, ": root is ", root, "; expected a rank, 0 to ", comm.size() - 1);
}

}  // namespace

namespace impl {

template <Scalar T>
Redistribution<T>::Redistribution(const Communicator& comm, const Placement& from, const Placement& to)
    : comm_(comm), outgoing_(comm, from, to), incoming_(comm, to, from) {}

template <Scalar T> void Redistribution<T>::operator()(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B) {
  exchange<T>(comm_, A.local(), outgoing_, Copied<T>(B.local()), incoming_, tag_redistribute,
              {pool_, comm_.space(), pool_});
}

}  // namespace impl

template <Scalar T> void redistribute(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B) {
  A.communicator().together([&] {
    require(A.rows() == B.rows() && A.columns() == B.columns(), "redistribute: from ", A.placement().describe(), " to ",
            B.placement().describe(), "; expected equal shapes");
    impl::require_same_ranks("redistribute", "B", B, A.communicator());
    if (A.placement() == B.placement()) {
      copy(A, B);
      A.communicator().space().fence("heddle::dist::redistribute");
      return;
    }
    impl::Redistribution<T>(A.communicator(), A.placement(), B.placement())(A, B);
  });
}

template <Scalar T> HostMatrix<T> gather(const DistributedMatrix<T>& A, int root) {
  return A.communicator().together([&] {
    const Communicator& comm = A.communicator();
    require_root("gather", root, comm);
    const DistributedMatrix<T> whole(comm, Placement::on_rank(A.rows(), A.columns(), root), "gathered");
    redistribute(A, whole);
    HostMatrix<T> result(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::dist::gathered"),
                         whole.local().extent(0), whole.local().extent(1));
    impl::copy_columns(comm.space(), result, whole.local());
    comm.space().fence("heddle::dist::gather");
    return result;
  });
}

template <Scalar T> void scatter(const HostMatrix<T>& whole, int root, const DistributedMatrix<T>& A) {
  A.communicator().together([&] {
    const Communicator& comm = A.communicator();
    require_root("scatter", root, comm);
    int fits = 1;
    if (comm.rank() == root) {
      fits =
          static_cast<Index>(whole.extent(0)) == A.rows() && static_cast<Index>(whole.extent(1)) == A.columns() ? 1 : 0;
    }
    comm.broadcast(std::span<int>(&fits, 1), root);
    require(fits == 1, "scatter: the matrix on rank ", root, " is not ", A.rows(), " x ", A.columns());
    const DistributedMatrix<T> source(comm, Placement::on_rank(A.rows(), A.columns(), root), "to_scatter");
    if (comm.rank() == root) {
      impl::copy_columns(comm.space(), source.local(), whole);
    }
    redistribute(source, A);
  });
}

#define HEDDLE_INSTANTIATE(T)                                                              \
  template class impl::Redistribution<T>;                                                  \
  template void redistribute<T>(const DistributedMatrix<T>&, const DistributedMatrix<T>&); \
  template HostMatrix<T> gather<T>(const DistributedMatrix<T>&, int);                      \
  template void scatter<T>(const HostMatrix<T>&, int, const DistributedMatrix<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
