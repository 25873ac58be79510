// Rank-k updates of one triangle over the ranks, tile by tile.
#include "solve/cholesky/rank_update.hpp"

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "solve/grid/factorization.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

namespace heddle::impl {
namespace {

constexpr int block_tag = 14;

// Smallest tiles that keep a BLAS busy.
constexpr Index least_tile = on_host ? 256 : 512;
constexpr Index largest_tile = 2048;

// Copy the triangle of C into a separate tile with zeros elsewhere; `real`: with a real diagonal.
template <Scalar T>
void take_triangle(const ExecutionSpace& space, bool below, bool real, const MatrixView<T>& C, const MatrixView<T>& W) {
  const Elements<T> c(C);
  const Elements<T> w(W);
  for_each_element(
      space, "heddle::solve::take_triangle", static_cast<Index>(C.extent(0)), static_cast<Index>(C.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) {
        const bool inside = below ? i >= j : i <= j;
        w(i, j) = !inside ? T(0) : real && i == j ? T(real_of<Real<T>>(c(i, j))) : c(i, j);
      });
}
// Copy it back.
template <Scalar T>
void give_triangle(const ExecutionSpace& space, bool below, bool real, const MatrixView<T>& W, const MatrixView<T>& C) {
  const Elements<T> c(C);
  const Elements<T> w(W);
  for_each_element(
      space, "heddle::solve::give_triangle", static_cast<Index>(C.extent(0)), static_cast<Index>(C.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) {
        if (below ? i >= j : i <= j) c(i, j) = real && i == j ? T(real_of<Real<T>>(w(i, j))) : w(i, j);
      });
}

}  // namespace

Index rank_update_block(Index n, const SyrkOptions& options) {
  constexpr Index a_side = 32;
  constexpr Index multiple = 64;
  if (options.block > 0) return options.block;
  const Index wanted = (n + a_side - 1) / a_side;
  return std::clamp((wanted + multiple - 1) / multiple * multiple, least_tile, largest_tile);
}

template <Scalar T>
RankUpdate<T>::RankUpdate(const OptionalRanks& ranks, const RankUpdateTerms<T>& terms, Index n, Index inner,
                          const SyrkOptions& options)
    : ranks_(ranks),
      terms_(terms),
      left_(terms.op),
      right_(terms.op != Operation::none ? Operation::none
             : terms.hermitian           ? Operation::conjugate_transpose
                                         : Operation::transpose),
      inner_(inner),
      axis_{n, rank_update_block(n, options), ranks.size()},
      context_(ranks.space()) {
  const Index widest = std::min(axis_.block, n);
  const auto memory = [&](const std::string& label) {
    return Kokkos::view_alloc(ranks.space(), Kokkos::WithoutInitializing, label);
  };
  diagonal_ = LocalMatrix<T>(memory("heddle::solve::diagonal_tile"), static_cast<std::size_t>(widest),
                             static_cast<std::size_t>(widest));
  if (options.arithmetic == Arithmetic::emulated) {
    moduli_ = options.moduli > 0 ? options.moduli : emulation_moduli<T>(inner);
    emulated_ = std::make_unique<EmulatedGemm<T>>(context_, widest, widest, inner,
                                                  EmulationOptions{.moduli = moduli_, .look = false});
    quantised_right_.resize(static_cast<std::size_t>((axis_.count(ranks.rank()) + axis_.block - 1) / axis_.block));
  }
  if (ranks.size() == 1) return;
  transport_ = transport_of(*ranks.comm());
  for (Buffer& message : messages_)
    message = Buffer(memory("heddle::solve::vectors"), static_cast<std::size_t>(widest * inner));
}

template <Scalar T> Placement RankUpdate<T>::placement_of_a() const {
  const Index whole = std::max<Index>(inner_, 1);
  return by_rows() ? Placement::block_cyclic(axis_.extent, inner_, axis_.block, whole, axis_.processes, 1)
                   : Placement::block_cyclic(inner_, axis_.extent, whole, axis_.block, 1, axis_.processes);
}
template <Scalar T> Placement RankUpdate<T>::placement_of_c() const {
  return placement_of_columns(axis_.extent, axis_);
}

template <Scalar T> bool RankUpdate<T>::wanted_by(int rank, Index i) const {
  // A rank's first block has the rank's number.
  if (lower()) return rank <= i;
  const Index count = blocks();
  return rank < count && (count - 1 - rank) / axis_.processes * axis_.processes + rank >= i;
}

template <Scalar T> MatrixView<T> RankUpdate<T>::vectors(const MatrixView<T>& A, Range of) const {
  return by_rows() ? block_of(A, of.begin, of.end, 0, inner_) : block_of(A, 0, inner_, of.begin, of.end);
}
template <Scalar T> MatrixView<T> RankUpdate<T>::in_message(const Buffer& message, Index count) const {
  return by_rows() ? matrix_view(message.data(), count, inner_, count)
                   : matrix_view(message.data(), inner_, count, inner_);
}

template <Scalar T> void RankUpdate<T>::begin_block(const MatrixView<T>& A, Index i) {
  if (!transport_ || i >= blocks()) return;
  const auto turn = static_cast<std::size_t>(i % 2);
  for (Request& request : under_way_[turn]) request.wait();
  under_way_[turn].clear();
  const Range of = range(i);
  const int owner = axis_.owner(of.begin);
  const Buffer message = Kokkos::subview(messages_[turn], Kokkos::pair<Index, Index>(0, of.size() * inner_));
  if (ranks_.rank() == owner) {
    copy_elements<T>(ranks_.space(), "heddle::solve::pack_vectors", vectors(A, axis_.locals(owner, of)),
                     in_message(message, of.size()));
    for (int other = 0; other < ranks_.size(); ++other) {
      if (other == owner || !wanted_by(other, i)) continue;
      under_way_[turn].push_back(transport_->send<T>(Kokkos::View<const T*, MemorySpace>(message), other, block_tag));
    }
  } else if (wanted_by(ranks_.rank(), i)) {
    under_way_[turn].push_back(transport_->receive<T>(message, owner, block_tag));
  }
}

template <Scalar T> MatrixView<T> RankUpdate<T>::block_here(const MatrixView<T>& A, Index i) {
  const Range of = range(i);
  const int owner = axis_.owner(of.begin);
  if (ranks_.rank() == owner) return vectors(A, axis_.locals(owner, of));
  const auto turn = static_cast<std::size_t>(i % 2);
  for (Request& request : under_way_[turn]) request.wait();
  under_way_[turn].clear();
  return in_message(messages_[turn], of.size());
}

template <Scalar T>
void RankUpdate<T>::multiply(const MatrixView<T>& left, const MatrixView<T>& right, Index j,
                             const MatrixView<T>& tile) {
  multiply_adds_ += static_cast<double>(tile.size()) * static_cast<double>(inner_);
  if (moduli_ == 0) {
    blas::gemm<T>(context_, left_, right_, terms_.alpha, left, right, terms_.beta, tile);
    return;
  }
  if (!quantised_left_) {
    quantised_left_ = std::make_unique<Quantised<T>>(context_, Factor::left, left_, left, moduli_);
  }
  auto& factor = quantised_right_[static_cast<std::size_t>(j)];
  if (!factor) factor = std::make_unique<Quantised<T>>(context_, Factor::right, right_, right, moduli_);
  (*emulated_)(terms_.alpha, *quantised_left_, *factor, terms_.beta, tile);
}

// Compute a whole tile outside C; its triangle is copied from C and back.
template <Scalar T>
void RankUpdate<T>::update_diagonal(const MatrixView<T>& left, const MatrixView<T>& right, Index j,
                                    const MatrixView<T>& tile) {
  const auto size = static_cast<Index>(tile.extent(0));
  const MatrixView<T> whole = matrix_view(diagonal_.data(), size, size, size);
  if (terms_.beta != T(0)) take_triangle(ranks_.space(), lower(), terms_.hermitian, tile, whole);
  multiply(left, right, j, whole);
  give_triangle(ranks_.space(), lower(), terms_.hermitian, whole, tile);
}

template <Scalar T>
void RankUpdate<T>::update_tiles(const MatrixView<T>& A, const MatrixView<T>& block, Index i, const MatrixView<T>& C) {
  const int me = ranks_.rank();
  const Range rows = range(i);
  quantised_left_.reset();
  // This rank's blocks, by local number.
  const Index count = (axis_.count(me) + axis_.block - 1) / axis_.block;
  for (Index k = 0; k < count; ++k) {
    const Index j = k * axis_.processes + me;
    if (lower() ? j > i : j < i) continue;
    const Range mine = axis_.locals(me, range(j));
    const MatrixView<T> right = vectors(A, mine);
    const MatrixView<T> tile = block_of(C, rows.begin, rows.end, mine.begin, mine.end);
    if (i == j) {
      update_diagonal(block, right, k, tile);
    } else {
      multiply(block, right, k, tile);
    }
  }
  quantised_left_.reset();
}

template <Scalar T> double RankUpdate<T>::run(const MatrixView<T>& A, const MatrixView<T>& C) {
  const Kokkos::Profiling::ScopedRegion region("heddle::solve::rank_update");
  multiply_adds_ = 0;
  begin_block(A, 0);
  for (Index i = 0; i < blocks(); ++i) {
    begin_block(A, i + 1);
    if (wanted_by(ranks_.rank(), i)) update_tiles(A, block_here(A, i), i, C);
    if (transport_) transport_->progress();
  }
  for (auto& requests : under_way_) {
    for (Request& request : requests) request.wait();
    requests.clear();
  }
  ranks_.space().fence("heddle::solve::rank_update");
  for (auto& factor : quantised_right_) factor.reset();
  return multiply_adds_;
}

template <Scalar T> void scale_triangle(const RankUpdateTerms<T>& terms, const PlacedMatrix<T>& C) {
  const CyclicAxis rows = C.placement().row_axis();
  const CyclicAxis columns = C.placement().column_axis();
  const int p = C.grid_row();
  const int q = C.grid_column();
  const Elements<T> c(C.local());
  const bool below = terms.triangle == Triangle::lower;
  const bool real = terms.hermitian;
  const T beta = terms.beta;
  for_each_element(
      C.space(), "heddle::solve::scale_triangle", static_cast<Index>(C.local().extent(0)),
      static_cast<Index>(C.local().extent(1)), KOKKOS_LAMBDA(Index i, Index j) {
        const Index row = rows.global(p, i);
        const Index column = columns.global(q, j);
        if (below ? row < column : row > column) return;
        const T before = real && row == column ? T(real_of<Real<T>>(c(i, j))) : c(i, j);
        c(i, j) = beta == T(0) ? T(0) : beta == T(1) ? before : product(beta, before);
      });
}

#define HEDDLE_INSTANTIATE(T)   \
  template class RankUpdate<T>; \
  template void scale_triangle<T>(const RankUpdateTerms<T>&, const PlacedMatrix<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
