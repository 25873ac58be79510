#include "comm/tags.hpp"
#include "core/instantiate.hpp"
#include "dist/exchange.hpp"
#include <heddle/transpose/distributed.hpp>
#include <heddle/transpose/transpose.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

namespace heddle {
namespace {

// Messages of alpha op(A): their columns are rows of A.
template <Scalar T> class Crossed {
 public:
  Crossed(const MatrixView<const T>& local, T alpha, Operation op) : local_(local), alpha_(alpha), op_(op) {}

  [[nodiscard]] static Index height(const impl::Part& part) { return part.columns.count; }
  [[nodiscard]] static Index width(const impl::Part& part) { return part.rows.count; }
  [[nodiscard]] static impl::Part panel(const impl::Part& part, Range range) {
    return {part.rows.part(range), part.columns};
  }
  [[nodiscard]] static bool is_ready(const impl::Part& /*part*/) { return false; }
  [[nodiscard]] MatrixView<const T> ready(const impl::Part& part) const { return part.block(local_); }

  void pack(const ExecutionSpace& space, const impl::Part& part, const MatrixView<T>& packed) const {
    if (part.is_block()) {
      transpose(space, alpha_, part.block(local_), op_, packed);
      return;
    }
    if (static_cast<Index>(gathered_.size()) < part.size()) {
      gathered_ = impl::panel_buffer<T>(space, part.size());
    }
    const MatrixView<T> gathered =
        impl::matrix_view(gathered_.data(), part.rows.count, part.columns.count, part.rows.count);
    impl::pack(space, local_, part, gathered);
    transpose(space, alpha_, gathered, op_, packed);
  }

 private:
  MatrixView<const T> local_;
  T alpha_;
  Operation op_;
  mutable impl::PanelBuffer<T> gathered_;  // Rows and columns that lie apart, put together.
};

}  // namespace

template <Scalar T>
void transpose(const Communicator& comm, T alpha, const DistributedMatrix<T>& A, Operation op,
               const DistributedMatrix<T>& B) {
  const Kokkos::Profiling::ScopedRegion region("heddle::transpose");
  const bool crossed = op != Operation::none;
  require(A.rows() == (crossed ? B.columns() : B.rows()) && A.columns() == (crossed ? B.rows() : B.columns()),
          "transpose: A is ", A.placement().describe(), ", op is ", to_string(op), ", B is ", B.placement().describe());
  const int same = A.local().size() > 0 && A.local().data() == B.local().data() ? 1 : 0;
  require(comm.all_reduce(same, Reduction::maximum) == 0, "transpose: B is A; expected another matrix");
  if (!crossed) {
    redistribute(A, B);
    if (alpha != T(1)) {
      scale(alpha, B);
    }
    comm.space().fence("heddle::transpose");
    return;
  }
  impl::exchange<T>(comm, Crossed<T>(A.local(), alpha, op), impl::Shares(comm, A.placement(), B.placement(), true),
                    impl::Shares(comm, B.placement(), A.placement(), true), B.local(), impl::tag_transpose);
}

#define HEDDLE_INSTANTIATE(T)                                                                \
  template void transpose<T>(const Communicator&, T, const DistributedMatrix<T>&, Operation, \
                             const DistributedMatrix<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
