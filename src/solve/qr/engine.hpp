// Panels of reflections: factored on the rank that has their columns, and applied on all ranks.
#pragma once

#include "solve/grid/factorization.hpp"
#include "solve/grid/panel_exchange.hpp"
#include "solve/qr/panel.hpp"
#include <heddle/solve/qr.hpp>

#include <memory>

namespace heddle::impl {

/// Options of a factorization whose panels are applied one by one.
[[nodiscard]] FactorOptions panel_options(const QrOptions& options);
/// Throws Error(argument) for invalid options.
void require_qr_options(const char* of, Index rows, Index columns, const QrOptions& options);
[[nodiscard]] inline std::vector<Argument> arguments_of(const QrOptions& options) {
  return {argument("arithmetic", to_string(options.arithmetic)), argument("block", options.block)};
}

/// The reflections of an m x n matrix whose columns are dealt out, panel by panel, and their application to columns.
template <Scalar T> class QrEngine {
 public:
  /// `columns`: distribution of columns of the factored matrix. Reflections are applied to up to `targets` columns of
  /// this rank, in pieces of `piece`. `comm` may be null.
  QrEngine(const ExecutionSpace& space, const Communicator* comm, const LuSchedule& schedule, const CyclicAxis& columns,
           Arithmetic arithmetic, Index piece, Index targets)
      : schedule_(schedule),
        columns_(columns),
        width_(std::min(schedule.block, std::max<Index>(schedule.steps(), 1))),
        panel_(space, arithmetic, schedule.rows, width_),
        update_(space, arithmetic, width_, piece, schedule.rows, targets),
        vectors_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::qr_vectors"),
                 static_cast<std::size_t>(schedule.rows * width_)),
        numbers_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::qr_triangles"),
                 static_cast<std::size_t>(schedule.panels() * extent())) {
    if (comm != nullptr && comm->size() > 1) {
      exchange_ = std::make_unique<PanelExchange<T>>(
          *comm, schedule, RankGrid::of_columns(schedule.rows, columns, comm->rank()), PanelSide::group);
    }
  }

  /// Bytes that it allocates, on the rank of the grid that needs most.
  [[nodiscard]] static double bytes(const LuSchedule& schedule, const RankGrid& grid, Arithmetic arithmetic) {
    const Index width = std::min(schedule.block, std::max<Index>(schedule.steps(), 1));
    const double of_update = most_of_ranks(grid, [&](const RankGrid& here) {
      return QrUpdate<T>::bytes(arithmetic, width, schedule.rows, here.column_count());
    });
    return of_update + QrPanel<T>::bytes(schedule.rows, width) +
           sizeof(T) * (size_of_matrix(schedule.rows, width) + size_of_matrix(schedule.panels() * width, width)) +
           PanelExchange<T>::bytes(schedule, grid, PanelSide::group);
  }

  /// Factors panel p of the matrix whose columns on this rank are `local`, and returns its reflections on all ranks.
  BlockReflector<T> factor(const MatrixView<T>& local, Index p) {
    if (columns_.owner(schedule_.panel(p).begin) == rank()) {
      panel_.factor(update_.subtract(), panel_of(local, p), own(p));
    }
    return share(p);
  }
  /// Return the reflections of panel p of the factored matrix on all ranks, from tau of all panels.
  BlockReflector<T> gather(const MatrixView<T>& local, const Kokkos::View<T*, MemorySpace>& tau, Index p) {
    const Range of = schedule_.panel(p);
    if (columns_.owner(of.begin) == rank()) {
      panel_.gather(update_.subtract(), panel_of(local, p),
                    Kokkos::subview(tau, Kokkos::pair<Index, Index>(of.begin, of.end)), own(p));
    }
    return share(p);
  }
  /// Applies op(Q) of the panel's reflections to columns of all rows of a matrix.
  void apply(const BlockReflector<T>& reflector, bool adjoint, Index p, const MatrixView<T>& C, Index first) {
    update_(reflector, adjoint,
            block_of(C, schedule_.panel(p).begin, schedule_.rows, 0, static_cast<Index>(C.extent(1))), first);
  }

 private:
  [[nodiscard]] int rank() const { return exchange_ ? exchange_->rank() : 0; }
  // Number of Index elements that hold a triangle.
  [[nodiscard]] Index extent() const {
    constexpr auto bytes = static_cast<Index>(sizeof(Index));
    return (width_ * width_ * static_cast<Index>(sizeof(T)) + 2 * bytes - 1) / (2 * bytes) * 2;
  }
  [[nodiscard]] Kokkos::View<Index*, MemorySpace> numbers(Index p) const {
    return Kokkos::subview(numbers_, Kokkos::pair<Index, Index>(p * extent(), (p + 1) * extent()));
  }
  [[nodiscard]] BlockReflector<T> own(Index p) const {
    const Range of = schedule_.panel(p);
    const Index rows = schedule_.rows - of.begin;
    return {matrix_view(vectors_.data(), rows, of.size(), rows),
            matrix_view(reinterpret_cast<T*>(numbers(p).data()), of.size(), of.size(), of.size())};
  }
  // A panel of this rank.
  [[nodiscard]] MatrixView<T> panel_of(const MatrixView<T>& local, Index p) const {
    const Range of = schedule_.panel(p);
    const Range mine = columns_.locals(rank(), of);
    return block_of(local, of.begin, schedule_.rows, mine.begin, mine.end);
  }
  BlockReflector<T> share(Index p) {
    BlockReflector<T> reflector = own(p);
    if (exchange_) {
      exchange_->share(p, reflector.V, numbers(p));
      const Range of = schedule_.panel(p);
      reflector.V = block_of(exchange_->panels(p, p + 1), of.begin, schedule_.rows, 0, of.size());
    }
    return reflector;
  }

  LuSchedule schedule_;
  CyclicAxis columns_;
  Index width_;
  QrPanel<T> panel_;
  QrUpdate<T> update_;
  std::unique_ptr<PanelExchange<T>> exchange_;  // Null on one rank.
  Kokkos::View<T*, MemorySpace> vectors_;       // V of the current panel.
  Kokkos::View<Index*, MemorySpace> numbers_;   // L of each panel, stored as the numbers that are sent with it.
};

}  // namespace heddle::impl
