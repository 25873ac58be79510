// Real products: planned, by stored residues, and by half for symmetric results.
#include "expm/arithmetic/real_products.hpp"

#include "core/on_host.hpp"
#include "expm/arithmetic/careful_products.hpp"
#include "gemm/run/mirror.hpp"
#include <heddle/blas/blas.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace heddle::impl {
namespace {

// Tile of products computed by half: a quarter of the matrix. Smaller tiles leave out more than three eighths of the
// work, but small products are slow: on CPUs they lose more than that, on GPUs only below 1024.
Index quarter_tile(Index n) {
  return n <= 192 ? std::max<Index>(n, 1) : (n / 4 + 31) / 32 * 32;
}
Index half_tile(Index n) {
  return on_host ? quarter_tile(n) : std::min<Index>(quarter_tile(n), 1024);
}

// Columns of a panel that reaches from the diagonal down: with eight panels, a sixteenth of the matrix is computed in
// vain.
Index panel_width(Index n) {
  return on_host ? std::max<Index>((n / 8 + 31) / 32 * 32, 64) : 1024;
}

// Errors of evenly scaled matrices are relative to norms, as emulated products have them for any exponents: no probe.
GemmOptions normwise(GemmOptions options) {
  options.emulation.look = false;
  return options;
}

GemmOptions options_of_half(Index n, const GemmOptions& options) {
  GemmOptions half = normwise(options);
  half.tiles = GemmTiles::half;
  // The last bits show which half is computed; those of emulated products must not depend on ranks.
  if (options.arithmetic != Arithmetic::native) {
    half.tile = quarter_tile(n);
  } else if (half.tile == 0) {
    half.tile = half_tile(n);
  }
  return half;
}

// Return the cost of the products that body() enqueues; body() returns their flops.
template <class Body> ProductCost timed(const ExecutionSpace& space, const Body& body) {
  space.fence("heddle::expm::products_begin");
  const Kokkos::Timer timer;
  ProductCost cost;
  cost.flops = body();
  space.fence("heddle::expm::products");
  cost.seconds = timer.seconds();
  return cost;
}

template <RealScalar T>
GemmPlan<T> plan_of(const Communicator& comm, const MatrixPool<T>& rows, const MatrixPool<T>& columns,
                    const GemmOptions& options) {
  return GemmPlan<T>(comm, Operation::none, rows.placement(), Operation::none, columns.placement(), rows.placement(),
                     options);
}

ProductCost cost_of(const GemmReport& report) {
  return {report.gflops * report.seconds * 1e9, report.seconds, false};
}

template <RealScalar T> class PlannedProducts : public RealProducts<T> {
 public:
  explicit PlannedProducts(GemmPlan<T> plan) : plan_(std::move(plan)) {}

  ProductCost multiply(T alpha, const RealFactor<T>& X, const RealFactor<T>& Y, T beta,
                       const DistributedMatrix<T>& Z) override {
    return cost_of(plan_.execute(alpha, *X.matrix, *Y.matrix, beta, Z));
  }
  [[nodiscard]] Index tile() const override { return plan_.tile(); }

 private:
  GemmPlan<T> plan_;
};

// Products on one rank that keep the residues of the last factors.
template <RealScalar T> class ResidueProducts : public RealProducts<T> {
 public:
  ResidueProducts(const ExecutionSpace& space, Index n, std::shared_ptr<KeptProducts<T>> kept)
      : space_(space), n_(n), kept_(std::move(kept)) {}

  ProductCost multiply(T alpha, const RealFactor<T>& X, const RealFactor<T>& Y, T beta,
                       const DistributedMatrix<T>& Z) override {
    return timed(space_, [&] { return (*kept_)(alpha, X, Y, beta, Z.local(), 0); });
  }
  [[nodiscard]] Index tile() const override { return n_; }

 private:
  ExecutionSpace space_;
  Index n_;
  std::shared_ptr<KeptProducts<T>> kept_;
};

// Common part of half products: the mirrored half.
template <RealScalar T> class MirroredProducts : public HalfProducts<T> {
 public:
  MirroredProducts(const Communicator& comm, const Placement& placement) : comm_(comm), placement_(placement) {}
  void complete(const DistributedMatrix<T>& Z, T sign) override {
    if (!mirror_) mirror_.emplace(comm_, placement_, this->tile());
    (*mirror_)(Z, sign);
  }

 protected:
  Communicator comm_;
  Placement placement_;

 private:
  std::optional<Mirror<T>> mirror_;
};

template <RealScalar T> class PlannedHalf : public MirroredProducts<T> {
 public:
  PlannedHalf(const Communicator& comm, const MatrixPool<T>& rows, const MatrixPool<T>& columns,
              const GemmOptions& options)
      : MirroredProducts<T>(comm, rows.placement()), rows_(rows), columns_(columns), options_(options) {}

  ProductCost multiply(T alpha, const RealFactor<T>& X, const RealFactor<T>& Y, T beta,
                       const DistributedMatrix<T>& Z) override {
    if (!plan_) plan_.emplace(plan_of(this->comm_, rows_, columns_, options_));
    return cost_of(plan_->execute(alpha, *X.matrix, *Y.matrix, beta, Z));
  }
  [[nodiscard]] Index tile() const override { return plan_ ? plan_->tile() : options_.tile; }

 private:
  MatrixPool<T> rows_;
  MatrixPool<T> columns_;
  GemmOptions options_;
  std::optional<GemmPlan<T>> plan_;
};

template <RealScalar T> class ResidueHalf : public MirroredProducts<T> {
 public:
  ResidueHalf(const Communicator& comm, const Placement& placement, Index tile, std::shared_ptr<KeptProducts<T>> kept)
      : MirroredProducts<T>(comm, placement), tile_(tile), kept_(std::move(kept)) {}

  ProductCost multiply(T alpha, const RealFactor<T>& X, const RealFactor<T>& Y, T beta,
                       const DistributedMatrix<T>& Z) override {
    return timed(this->comm_.space(), [&] { return (*kept_)(alpha, X, Y, beta, Z.local(), tile_); });
  }
  [[nodiscard]] Index tile() const override { return tile_; }

 private:
  Index tile_;
  std::shared_ptr<KeptProducts<T>> kept_;
};

// Half products on one rank, in panels of columns from the diagonal down, with a little above the diagonal. To the
// mirror the whole is one tile, below whose diagonal the computed elements are.
template <RealScalar T> class LowerHalf : public MirroredProducts<T> {
 public:
  using MirroredProducts<T>::MirroredProducts;

  ProductCost multiply(T alpha, const RealFactor<T>& X, const RealFactor<T>& Y, T beta,
                       const DistributedMatrix<T>& Z) override {
    if (!context_) context_.emplace(this->comm_.space());
    const auto n = static_cast<Index>(Z.local().extent(0));
    const Index width = panel_width(n);
    return timed(this->comm_.space(), [&] {
      double flops = 0.0;
      for (Index j = 0; j < n; j += width) {
        const Index wide = std::min(width, n - j);
        blas::gemm<T>(*context_, Operation::none, Operation::none, alpha, block_of(X.matrix->local(), j, n, 0, n),
                      block_of(Y.matrix->local(), 0, n, j, j + wide), beta, block_of(Z.local(), j, n, j, j + wide));
        flops += 2.0 * static_cast<double>(n) * static_cast<double>(n - j) * static_cast<double>(wide);
      }
      return flops;
    });
  }
  [[nodiscard]] Index tile() const override { return std::max<Index>(this->placement_.rows(), 1); }

 private:
  std::optional<blas::Context> context_;
};

// Whether residues may be kept if products turn out to be emulated.
bool may_keep_residues(const Communicator& comm, const GemmOptions& options) {
  return comm.size() == 1 && options.tile == 0 && options.bands_per_pass == 0 &&
         options.arithmetic != Arithmetic::native && options.emulation.scheme == EmulationScheme::residues;
}

}  // namespace

template <RealScalar T>
ChosenProducts<T> choose_products(const Communicator& comm, const MatrixPool<T>& rows, const MatrixPool<T>& columns,
                                  const GemmOptions& options) {
  const Index n = rows.placement().rows();
  const GemmOptions whole = normwise(options);
  const GemmOptions half = options_of_half(n, options);
  std::optional<GemmPlan<T>> plan;
  bool keeps = may_keep_residues(comm, whole);
  if (!keeps || whole.arithmetic == Arithmetic::automatic) {
    // The plan's model chooses the arithmetic for `automatic`.
    plan.emplace(plan_of(comm, rows, columns, whole));
    keeps = keeps && plan->arithmetic() == Arithmetic::emulated;
  }
  const bool native = plan && plan->arithmetic() == Arithmetic::native;
  std::shared_ptr<KeptProducts<T>> kept;
  if (keeps) {
    plan.reset();
    if (KeptProducts<T>::fit(n, whole.emulation)) {
      kept = std::make_shared<KeptProducts<T>>(comm.space(), n, whole.emulation);
    } else {
      plan.emplace(plan_of(comm, rows, columns, whole));
    }
  }

  ChosenProducts<T> chosen;
  if (kept) {
    chosen.whole = std::make_unique<ResidueProducts<T>>(comm.space(), n, kept);
  } else {
    chosen.whole = std::make_unique<PlannedProducts<T>>(*std::move(plan));
  }
  if (!native && options.arithmetic != Arithmetic::native && wants_probe(options.emulation)) {
    auto careful = std::make_unique<CarefulProducts<T>>(comm, std::move(chosen.whole), rows, columns, options);
    chosen.careful = careful.get();
    chosen.whole = std::move(careful);
  }
  if (comm.size() == 1 && options.tile == 0 && options.arithmetic == Arithmetic::native) {
    chosen.half = std::make_unique<LowerHalf<T>>(comm, rows.placement());
  } else if (kept) {
    chosen.half = std::make_unique<ResidueHalf<T>>(comm, rows.placement(), half.tile, kept);
  } else {
    chosen.half = std::make_unique<PlannedHalf<T>>(comm, rows, columns, half);
  }
  return chosen;
}

template ChosenProducts<float> choose_products(const Communicator&, const MatrixPool<float>&, const MatrixPool<float>&,
                                               const GemmOptions&);
template ChosenProducts<double> choose_products(const Communicator&, const MatrixPool<double>&,
                                                const MatrixPool<double>&, const GemmOptions&);

}  // namespace heddle::impl
