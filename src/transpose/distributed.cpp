// Transpose of a distributed matrix.
#include "comm/transports/tags.hpp"
#include "core/instantiate.hpp"
#include "core/memory/shared_storage.hpp"
#include "dist/arguments.hpp"
#include "dist/exchange.hpp"
#include "transpose/moves.hpp"
#include <heddle/transpose/distributed.hpp>
#include <heddle/transpose/transpose.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

namespace heddle {
namespace {

// Other ranks' elements and those that this one keeps are read by two kernels at once, so that the link is never idle.
constexpr double share_of_device = 0.5;

// Takes elements as alpha op of them.
template <Scalar T> class Mapped {
 public:
  Mapped(T alpha, Operation op, const MatrixView<T>& matrix, const TransposeOptions& options, bool shared)
      : alpha_(alpha), op_(op), matrix_(matrix), options_(options) {
    if (shared) options_.device_share *= share_of_device;
  }
  [[nodiscard]] const MatrixView<T>& matrix() const { return matrix_; }
  [[nodiscard]] bool crossed() const { return op_ != Operation::none; }
  [[nodiscard]] bool takes_as_it_is() const { return !crossed() && alpha_ == T(1); }
  void place(const ExecutionSpace& space, impl::PanelPool<T>& pool, const MatrixView<const T>& block,
             const impl::Share& part) const {
    if (part.is_block()) {
      transpose(space, alpha_, block, op_, part.block(matrix_), options_);
      return;
    }
    const Index height = part.rows.count;
    impl::PanelBuffer<T> buffer = pool.take(space, part.size());
    transpose(space, alpha_, block, op_, impl::matrix_view(buffer.data(), height, part.columns.count, height),
              options_);
    const T* const data = buffer.data();
    impl::unpack(space, impl::matrix_view(data, height, part.columns.count, height), part, matrix_);
    pool.give(std::move(buffer));
  }

 private:
  T alpha_;
  Operation op_;
  MatrixView<T> matrix_;
  TransposeOptions options_;
};

}  // namespace

template <Scalar T> struct TransposePlan<T>::State {
  Communicator comm;
  Operation op;
  Placement a;
  Placement b;
  TransposeOptions options;
  impl::Shares outgoing;
  impl::Shares incoming;
  ExecutionSpace beside;
  impl::PanelPool<T> pool;
  impl::PanelPool<T> pool_beside;

  // Whether anything travels from or to this rank.
  [[nodiscard]] bool has_partners() const {
    for (int rank = 0; rank < comm.size(); ++rank) {
      if (rank != comm.rank() && !(outgoing.empty(rank) && incoming.empty(rank))) {
        return true;
      }
    }
    return false;
  }
};

template <Scalar T>
TransposePlan<T>::TransposePlan(const Communicator& comm, const Placement& a, Operation op, const Placement& b,
                                const TransposeOptions& options) {
  comm.together([&] {
    const bool crossed = op != Operation::none;
    const std::vector<impl::Argument> arguments = {
        impl::argument("A", a),
        {"op", std::string(to_string(op))},
        impl::argument("B", b),
        {"options", message_of(to_string(options.variant), ", blocks of ", options.block_rows, " x ",
                               options.block_columns, ", share ", options.device_share)}};
    impl::require_alike(comm, "transpose", arguments, [&] {
      require(a.rows() == (crossed ? b.columns() : b.rows()) && a.columns() == (crossed ? b.rows() : b.columns()),
              "transpose: A is ", a.describe(), ", op is ", to_string(op), ", B is ", b.describe());
      // A rank that threw later would leave others waiting for its messages.
      impl::require_runs(options, sizeof(T), a.rows(), a.columns());
    });
    state_.reset(new State{comm,
                           op,
                           a,
                           b,
                           options,
                           impl::Shares(comm, a, b, crossed),
                           impl::Shares(comm, b, a, crossed),
                           impl::instance_beside(comm.space()),
                           {},
                           {}});
  });
}

template <Scalar T> TransposePlan<T>::~TransposePlan() = default;
template <Scalar T> TransposePlan<T>::TransposePlan(TransposePlan&&) noexcept = default;
template <Scalar T> TransposePlan<T>& TransposePlan<T>::operator=(TransposePlan&&) noexcept = default;

template <Scalar T>
void TransposePlan<T>::execute(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B) {
  state_->comm.together([&] {
    const Kokkos::Profiling::ScopedRegion region("heddle::transpose");
    State& of = *state_;
    impl::require_alike(of.comm, "transpose", {}, [&] {
      require(A.placement() == of.a && B.placement() == of.b, "transpose: a plan from ", of.a.describe(), " to ",
              of.b.describe(), ", given ", A.placement().describe(), " and ", B.placement().describe());
      impl::require_same_ranks("transpose", "A", A, of.comm);
      impl::require_same_ranks("transpose", "B", B, of.comm);
      impl::require_apart("transpose", "A", A.local(), "B", B.local());
    });
    const Mapped<T> target(alpha, of.op, B.local(), of.options, of.has_partners());
    impl::exchange<T>(of.comm, A.local(), of.outgoing, target, of.incoming, impl::tag_transpose,
                      {of.pool, of.beside, impl::on_host ? of.pool : of.pool_beside});
  });
}

template <Scalar T>
void transpose(const Communicator& comm, std::type_identity_t<T> alpha, const DistributedMatrix<T>& A, Operation op,
               const DistributedMatrix<T>& B, const TransposeOptions& options) {
  TransposePlan<T>(comm, A.placement(), op, B.placement(), options).execute(alpha, A, B);
}

#define HEDDLE_INSTANTIATE(T)                                                                \
  template class TransposePlan<T>;                                                           \
  template void transpose<T>(const Communicator&, T, const DistributedMatrix<T>&, Operation, \
                             const DistributedMatrix<T>&, const TransposeOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
