#include "gemm/mirror.hpp"

#include "core/instantiate.hpp"
#include "dist/elementwise.hpp"
#include "gemm/schedule.hpp"
#include <heddle/gemm/gemm.hpp>

namespace heddle {
namespace impl {
namespace {

constexpr int block = 32;

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

// Blocks of C, read down the columns into fast memory and written down the columns of the block across the diagonal.
template <class T> struct MirrorBlocks {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Member = typename Policy::member_type;
  using Scratch = Kokkos::View<T**, Kokkos::LayoutLeft, typename ExecutionSpace::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Elements<T> C;
  Index n;
  Index blocks;
  Half half;
  T sign;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const Index first = team.league_rank() % blocks;
    const Index second = team.league_rank() / blocks;
    // One rule for a whole block where a tile holds it; else every element asks.
    const Index i_end = Kokkos::min(n, (first + 1) * block);
    const Index j_end = Kokkos::min(n, (second + 1) * block);
    const Index i0 = first * block;
    const Index j0 = second * block;
    const bool uniform = first != second && i0 / half.tile == (i_end - 1) / half.tile &&
                         j0 / half.tile == (j_end - 1) / half.tile && i0 / half.tile != j0 / half.tile;
    if (uniform && !half.holds(i0, j0)) return;
    const Scratch held(team.team_scratch(0), block + 1, block);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(j_end - j0)), [&](int j) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, static_cast<int>(i_end - i0)),
                           [&](int i) { held(i, j) = sign * C(i0 + i, j0 + j); });
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(i_end - i0)), [&](int i) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, static_cast<int>(j_end - j0)), [&](int j) {
        // The diagonal stays: it is its own mirror image.
        if (uniform || (i0 + i != j0 + j && half.holds(i0 + i, j0 + j))) C(j0 + j, i0 + i) = held(i, j);
      });
    });
  }
};

template <Scalar T> void mirror_blocks(const ExecutionSpace& space, const MatrixView<T>& C, const Half& half, T sign) {
  const auto n = static_cast<Index>(C.extent(0));
  const Index blocks = (n + block - 1) / block;
  using Kernel = MirrorBlocks<T>;
  typename Kernel::Policy policy(space, static_cast<int>(blocks * blocks), on_host ? 1 : 8, on_host ? 1 : 32);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Kernel::Scratch::shmem_size(block + 1, block))));
  Kokkos::parallel_for("heddle::gemm::mirror", policy, Kernel{Elements<T>(C), n, blocks, half, sign});
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
        if (!half.holds(rows.global(p, i), columns.global(q, j))) to(i, j) = sign * from(i, j);
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
void complete_symmetric(const Communicator& comm, const DistributedMatrix<T>& C, Index tile, T sign) {
  impl::Mirror<T>(comm, C.placement(), tile)(C, sign);
}

#define HEDDLE_INSTANTIATE(T) \
  template void complete_symmetric<T>(const Communicator&, const DistributedMatrix<T>&, Index, T)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
