#include "gemm/run/mirror.hpp"

#include "core/instantiate.hpp"
#include "dist/transposed_block.hpp"
#include "gemm/plan/schedule.hpp"
#include <heddle/gemm/gemm.hpp>

namespace heddle {
namespace impl {
namespace {

// Whether element (i, j) was computed: below the diagonal in the diagonal's tiles.
struct Half {
  Index tile;
  Index tiles;

  KOKKOS_INLINE_FUNCTION bool holds(Index i, Index j) const {
    const Index p = i / tile;
    const Index q = j / tile;
    return p == q ? i >= j : half_holds(p, q, tiles);
  }
};

// Blocks of C, written down the columns of the block across the diagonal.
template <class T> struct MirrorBlocks {
  Elements<T> C;
  Index n;
  Index blocks;
  Half half;
  T sign;

  struct Block {
    Index i0;
    Index j0;
    int high;
    int wide;
    bool uniform;  // One answer for all of it: off the diagonal, where one tile holds it.
    bool held;     // What that is.
  };
  KOKKOS_INLINE_FUNCTION Block block(Index number) const {
    const Index i0 = number % blocks * block_edge;
    const Index j0 = number / blocks * block_edge;
    const Index i_end = Kokkos::min(n, i0 + block_edge);
    const Index j_end = Kokkos::min(n, j0 + block_edge);
    const bool uniform =
        i0 != j0 && i0 / half.tile == (i_end - 1) / half.tile && j0 / half.tile == (j_end - 1) / half.tile;
    return {i0, j0, static_cast<int>(i_end - i0), static_cast<int>(j_end - j0), uniform, uniform && half.holds(i0, j0)};
  }
  // Element (i, j) of a block goes across, if it was computed.
  KOKKOS_INLINE_FUNCTION void put(const Block& of, int i, int j, const T& element) const {
    const Index row = of.i0 + i;
    const Index column = of.j0 + j;
    if (!of.uniform && row == column) {
      if (sign == T{-1}) C(row, row) = T{0};
    } else if (of.uniform || half.holds(row, column)) {
      C(column, row) = sign * element;
    }
  }
  KOKKOS_INLINE_FUNCTION void operator()(const BlockTeams::member_type& team) const {
    const Block of = block(team.league_rank());
    if (of.uniform && !of.held) return;
    const TransposedBlock<T> held = transposed_block(team, C, of.i0, of.j0, of.high, of.wide);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, of.high), [&](int i) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, of.wide), [&](int j) { put(of, i, j, held(i, j)); });
    });
  }
};

template <Scalar T> void mirror_blocks(const ExecutionSpace& space, const MatrixView<T>& C, const Half& half, T sign) {
  const auto n = static_cast<Index>(C.extent(0));
  const Index blocks = (n + block_edge - 1) / block_edge;
  Kokkos::parallel_for("heddle::gemm::mirror", block_teams<T>(space, blocks * blocks),
                       MirrorBlocks<T>{Elements<T>(C), n, blocks, half, sign});
}

// C's other half = sign times that of its transpose.
template <Scalar T>
void choose_halves(const DistributedMatrix<T>& transposed, const Half& half, T sign, const DistributedMatrix<T>& C) {
  const Elements<T> to(C.local());
  const Elements<T> from(transposed.local());
  const CyclicAxis rows = C.placement().row_axis();
  const CyclicAxis columns = C.placement().column_axis();
  const int p = C.grid_row();
  const int q = C.grid_column();
  for_each_element(
      C.communicator().space(), "heddle::gemm::mirror", static_cast<Index>(C.local().extent(0)),
      static_cast<Index>(C.local().extent(1)), KOKKOS_LAMBDA(Index i, Index j) {
        const Index row = rows.global(p, i);
        const Index column = columns.global(q, j);
        if (row == column) {
          if (sign == T{-1}) to(i, j) = T{0};
        } else if (!half.holds(row, column)) {
          to(i, j) = sign * from(i, j);
        }
      });
}

}  // namespace

template <Scalar T>
Mirror<T>::Mirror(const Communicator& comm, const Placement& placement, Index tile)
    : comm_(comm), placement_(placement), tile_(tile) {
  require(placement.rows() == placement.columns(), "complete_symmetric: C is ", placement.rows(), " x ",
          placement.columns(), "; expected square");
  require(tile >= 1, "complete_symmetric: tile ", tile, "; expected at least 1");
  if (placement.rank_end() - placement.first_rank() > 1) {
    plan_.emplace(comm, placement, Operation::transpose, placement);
    transposed_ = DistributedMatrix<T>(comm, placement, "heddle::gemm::mirror");
  }
}

template <Scalar T> void Mirror<T>::operator()(const DistributedMatrix<T>& C, T sign) {
  require(C.placement() == placement_, "complete_symmetric: C is ", C.placement().describe(), "; the plan is for ",
          placement_.describe());
  const Half half{tile_, (placement_.rows() + tile_ - 1) / tile_};
  if (plan_) {
    plan_->execute(T{1}, C, transposed_);
    choose_halves(transposed_, half, sign, C);
  } else if (C.local().size() > 0) {
    mirror_blocks(comm_.space(), C.local(), half, sign);
  }
}

#define HEDDLE_INSTANTIATE(T) template class Mirror<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace impl

template <Scalar T>
void complete_symmetric(const Communicator& comm, const DistributedMatrix<T>& C, Index tile,
                        std::type_identity_t<T> sign) {
  comm.together([&] { impl::Mirror<T>(comm, C.placement(), tile)(C, sign); });
}

#define HEDDLE_INSTANTIATE(T) \
  template void complete_symmetric<T>(const Communicator&, const DistributedMatrix<T>&, Index, T)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
