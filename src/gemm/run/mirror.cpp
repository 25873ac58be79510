// Copy of the computed half of a symmetric matrix to the other half.
#include "gemm/run/mirror.hpp"

#include "comm/transports/tags.hpp"
#include "core/instantiate.hpp"
#include "dist/transposed_block.hpp"
#include "gemm/plan/schedule.hpp"
#include <heddle/gemm/gemm.hpp>

#include <limits>

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

// Global indices of some local ones.
struct Globals {
  Position local;
  CyclicAxis axis;
  int process;

  KOKKOS_INLINE_FUNCTION Index operator()(Index k) const { return axis.global(process, local(k)); }
};

// A part of C: each element that was not computed is a copy of the one across the diagonal, which `across` has, or its
// negation (a product with a complex sign would turn infinite parts into NaN). A team takes a block and leaves one
// alone that was computed; if one tile holds a block, its elements are not tested.
template <class T> struct MirrorPart {
  Elements<const T> across;  ///< columns x rows of the part.
  Elements<T> C;
  Position row;
  Position column;
  Globals global_row;
  Globals global_column;
  Index rows;
  Index columns;
  Index down;  ///< Blocks below one another.
  Half half;
  bool negated;

  KOKKOS_INLINE_FUNCTION void operator()(const BlockTeams::member_type& team) const {
    const Index i0 = team.league_rank() % down * block_edge;
    const Index j0 = team.league_rank() / down * block_edge;
    const int high = static_cast<int>(Kokkos::min(rows - i0, Index{block_edge}));
    const int wide = static_cast<int>(Kokkos::min(columns - j0, Index{block_edge}));
    const Index top = global_row(i0);
    const Index bottom = global_row(i0 + high - 1);
    const Index left = global_column(j0);
    const Index right = global_column(j0 + wide - 1);
    const bool uniform = top / half.tile == bottom / half.tile && left / half.tile == right / half.tile &&
                         (top / half.tile != left / half.tile || top > right || bottom < left);
    if (uniform && half.holds(top, left)) return;
    const TransposedBlock<T> held = transposed_block(team, across, j0, i0, wide, high);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, wide), [&](int j) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, high), [&](int i) {
        const Index g = uniform ? top : global_row(i0 + i);
        const Index h = uniform ? left : global_column(j0 + j);
        if (g == h) {
          if (negated) C(row(i0 + i), column(j0 + j)) = T{0};
        } else if (uniform || !half.holds(g, h)) {
          const T element = held(j, i);
          C(row(i0 + i), column(j0 + j)) = negated ? -element : element;
        }
      });
    });
  }
};

// Puts what comes from other ranks, or from here, across the diagonal of C.
template <Scalar T> class Mirrored {
 public:
  Mirrored(const DistributedMatrix<T>& C, const Half& half, bool negated)
      : matrix_(C.local()),
        rows_(C.placement().row_axis()),
        columns_(C.placement().column_axis()),
        p_(C.grid_row()),
        q_(C.grid_column()),
        half_(half),
        negated_(negated) {}
  [[nodiscard]] const MatrixView<T>& matrix() const { return matrix_; }
  [[nodiscard]] static bool crossed() { return true; }
  [[nodiscard]] static bool takes_as_it_is() { return false; }
  void place(const ExecutionSpace& space, PanelPool<T>& /*pool*/, const MatrixView<const T>& block,
             const Share& part) const {
    if (part.size() == 0) return;
    const Index down = (part.rows.count + block_edge - 1) / block_edge;
    const Index across = (part.columns.count + block_edge - 1) / block_edge;
    const Position row(part.rows);
    const Position column(part.columns);
    Kokkos::parallel_for(
        "heddle::gemm::mirror", block_teams<T>(space, down * across),
        MirrorPart<T>{Elements<const T>(block), Elements<T>(matrix_), row, column, Globals{row, rows_, p_},
                      Globals{column, columns_, q_}, part.rows.count, part.columns.count, down, half_, negated_});
  }

 private:
  MatrixView<T> matrix_;
  CyclicAxis rows_;
  CyclicAxis columns_;
  int p_;
  int q_;
  Half half_;
  bool negated_;
};

}  // namespace

template <Scalar T>
Mirror<T>::Mirror(const Communicator& comm, const Placement& placement, Index tile)
    : comm_(comm), placement_(placement), tile_(tile), beside_(comm.space()) {
  require(placement.rows() == placement.columns(), "complete_symmetric: C is ", placement.rows(), " x ",
          placement.columns(), "; expected square");
  constexpr Index most = std::numeric_limits<int>::max();
  require(tile >= 1 && tile <= most, "complete_symmetric: tile ", tile, "; expected 1 to ", most);
  if (placement.rank_end() - placement.first_rank() > 1) {
    shares_.emplace(comm, placement, placement, true);
    beside_ = instance_beside(comm.space());
  }
}

template <Scalar T> void Mirror<T>::operator()(const DistributedMatrix<T>& C, T sign) {
  require(C.placement() == placement_, "complete_symmetric: C is ", C.placement().describe(), "; the plan is for ",
          placement_.describe());
  require(sign == T{1} || sign == T{-1}, "complete_symmetric: sign is ", sign, "; expected 1 or -1");
  const Mirrored<T> target(C, Half{tile_, (placement_.rows() + tile_ - 1) / tile_}, sign == T{-1});
  if (shares_) {
    exchange<T>(comm_, C.local(), *shares_, target, *shares_, tag_mirror,
                {pool_, beside_, on_host ? pool_ : pool_beside_});
  } else if (C.local().size() > 0) {
    const Locals all{0, placement_.rows(), {}};
    target.place(comm_.space(), pool_, C.local(), Share{all, all});
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
