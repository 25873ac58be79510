// psi' = exp(-i H dt) psi by the exponential of a matrix.
#include "schrodinger/propagators/apply_exponential.hpp"
#include "schrodinger/propagators/magnus.hpp"
#include "schrodinger/propagators/propagators.hpp"
#include "schrodinger/simulation/stopwatch.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace heddle::impl {

namespace {

using schrodinger::Hamiltonian;
using schrodinger::PropagatorKind;
using schrodinger::PropagatorOptions;
using schrodinger::SimulationTimes;

ExpmOptions expm_options(const PropagatorOptions& options, const Hamiltonian& hamiltonian) {
  const Index points = hamiltonian.grid().points;
  ExpmOptions chosen;
  // Known without a test: H is real and symmetric, except for an absorber.
  chosen.structure = hamiltonian.absorption().empty() ? ExpmStructure::skew_hermitian : ExpmStructure::general;
  if (options.degree > 0) {
    chosen.method = ExpmMethod::taylor;
    chosen.degree = options.degree;
  }
  chosen.tolerance = options.tolerance;
  chosen.gemm.arithmetic = options.arithmetic;
  chosen.certificate = options.certificate;
  // Emulated products have the same bits at any tile.
  const bool emulated = options.arithmetic == Arithmetic::emulated;
  chosen.gemm.tile = options.tile > 0 || emulated ? options.tile : schrodinger::default_tile(points);
  return chosen;
}

// A_ii = factor (shift + diagonal_i) for A in bands over the ranks, by rows or by columns.
void set_diagonal(double factor, double shift, const DeviceValues& diagonal, const DistributedMatrix<double>& A) {
  const CyclicAxis& rows = A.placement().row_axis();
  const CyclicAxis& columns = A.placement().column_axis();
  const bool by_rows = rows.processes > 1;
  const Index first = by_rows ? rows.block * A.grid_row() : columns.processes > 1 ? columns.block * A.grid_column() : 0;
  const auto& local = A.local();
  const auto count = static_cast<Index>(by_rows ? local.extent(0) : local.extent(1));
  Kokkos::parallel_for(
      "heddle::schrodinger::set_diagonal", GridRange(A.communicator().space(), 0, count), KOKKOS_LAMBDA(Index i) {
        local(by_rows ? i : first + i, by_rows ? first + i : i) = factor * (shift + diagonal(first + i));
      });
}

// The matrix A = -i H duration is filled once; a step replaces its diagonal.
class Exponential : public Propagator {
 public:
  Exponential(const Communicator& comm, const Hamiltonian& hamiltonian, double time_step,
              const PropagatorOptions& options)
      : Propagator(choice_of(options)),
        comm_(comm),
        moves_(hamiltonian.moves()),
        kinetic_(hamiltonian.kinetic().front()),
        hamiltonian_(comm.space(), hamiltonian),
        time_step_(time_step),
        plan_(comm, expm_options(options, hamiltonian)),
        apply_(comm, hamiltonian.grid().points),
        potential_(device_values(comm.space(), "heddle::schrodinger::mean_potential", hamiltonian.grid().points)) {
    const Index n = hamiltonian.grid().points;
    const Placement bands = Placement::row_bands(n, n, comm.size());
    const Placement column_bands = Placement::column_bands(n, n, comm.size());
    const double duration = factors(0.0).front().duration;
    const auto place = [&](SplitMatrix<double>& A, const Placement& placement, const char* imaginary,
                           const char* real) {
      A.imaginary.emplace(comm, placement, imaginary);
      hamiltonian_.fill(-duration, 0.0, *A.imaginary);
      if (hamiltonian.absorption().empty()) return;
      A.real.emplace(comm, placement, real);
      fill(*A.real, 0.0);
      set_diagonal(-duration, 0.0,
                   device_copy(comm.space(), "heddle::schrodinger::absorption", hamiltonian.absorption()), *A.real);
    };
    place(A_, bands, "heddle::schrodinger::A", "heddle::schrodinger::A_real");
    if (comm.size() > 1) {
      place(columns_of_A_, column_bands, "heddle::schrodinger::columns_of_A", "heddle::schrodinger::columns_of_A_real");
    }
    E_.real.emplace(comm, bands, "heddle::schrodinger::E_real");
    E_.imaginary.emplace(comm, bands, "heddle::schrodinger::E_imaginary");
  }

  void advance(double midpoint, std::span<WaveFunction> states, SimulationTimes& times) override {
    each_substep(midpoint, time_step_, [&](double middle) {
      for (const MagnusFactor& factor : factors(middle)) {
        if (!report_ || moves_) exponentiate(factor, times);
        const Stopwatch watch(times.apply);
        for (WaveFunction& psi : states) apply_(E_, psi);
      }
    });
  }

 private:
  [[nodiscard]] std::vector<MagnusFactor> factors(double middle) const {
    return magnus_factors(choice_.order, moves_, middle, time_step_ / choice_.substeps);
  }

  void exponentiate(const MagnusFactor& factor, SimulationTimes& times) {
    {
      const Stopwatch watch(times.hamiltonian);
      fill_potential(comm_.space(), hamiltonian_, factor, potential_);
      set_diagonal(-factor.duration, kinetic_, potential_, *A_.imaginary);
      // H is symmetric, and its elements cost less to compute than to send.
      if (columns_of_A_.imaginary) {
        set_diagonal(-factor.duration, kinetic_, potential_, *columns_of_A_.imaginary);
      }
      // Fence for the stopwatch alone; the plan blocks immediately afterwards anyway, for the norm of A.
      comm_.space().fence("heddle::schrodinger::hamiltonian");
    }
    const double worst = report_ ? report_->certificate.value_or(0.0) : 0.0;
    report_ = plan_.execute(A_, columns_of_A_, E_);
    if (report_->certificate) report_->certificate = std::max(*report_->certificate, worst);
    times.certificate += report_->certificate_seconds;
    times.expm += report_->seconds;
    times.gemm += report_->gemm_seconds;
  }

  Communicator comm_;
  bool moves_;
  double kinetic_;
  DeviceHamiltonian hamiltonian_;
  double time_step_;
  ExpmPlan<double> plan_;
  ApplyExponential apply_;
  DeviceValues potential_;
  SplitMatrix<double> A_;
  SplitMatrix<double> columns_of_A_;
  SplitMatrix<double> E_;
};

}  // namespace

std::unique_ptr<Propagator> make_exponential(const Communicator& comm, const Hamiltonian& hamiltonian, double time_step,
                                             const PropagatorOptions& options) {
  return std::make_unique<Exponential>(comm, hamiltonian, time_step, options);
}

}  // namespace heddle::impl
