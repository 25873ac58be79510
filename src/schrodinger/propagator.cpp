#include "propagator.hpp"

#include "apply_exponential.hpp"
#include "blas/lapack.hpp"
#include "stopwatch.hpp"

#include <utility>

namespace heddle::impl {

namespace {

using schrodinger::Hamiltonian;
using schrodinger::PropagatorKind;
using schrodinger::PropagatorOptions;
using schrodinger::SimulationTimes;
using schrodinger::State;

ExpmOptions expm_options(const PropagatorOptions& options, Index points) {
  ExpmOptions chosen;
  if (options.degree > 0) {
    chosen.method = ExpmMethod::taylor;
    chosen.degree = options.degree;
  }
  chosen.tolerance = options.tolerance;
  chosen.gemm.tile = options.tile > 0 ? options.tile : schrodinger::default_tile(points);
  return chosen;
}

// psi' = exp(-i H dt) psi.
class Exponential : public Propagator {
 public:
  Exponential(const Communicator& comm, const Hamiltonian& hamiltonian, double time_step,
              const PropagatorOptions& options)
      : comm_(comm),
        moves_(hamiltonian.moves()),
        hamiltonian_(comm.space(), hamiltonian),
        time_step_(time_step),
        plan_(comm, expm_options(options, hamiltonian.grid().points)),
        apply_(comm, hamiltonian.grid().points) {
    const Index n = hamiltonian.grid().points;
    const Placement bands = Placement::row_bands(n, n, comm.size());
    A_.imaginary.emplace(comm, bands, "heddle::schrodinger::A");
    if (comm.size() > 1) {
      columns_of_A_.imaginary.emplace(comm, Placement::column_bands(n, n, comm.size()),
                                      "heddle::schrodinger::columns_of_A");
    }
    E_.real.emplace(comm, bands, "heddle::schrodinger::E_real");
    E_.imaginary.emplace(comm, bands, "heddle::schrodinger::E_imaginary");
  }

  void advance(double midpoint, WaveFunction& psi, SimulationTimes& times) override {
    if (!report_ || moves_) {
      {
        const Stopwatch watch(times.hamiltonian);
        hamiltonian_.fill(-time_step_, midpoint, *A_.imaginary);
        // H is symmetric and its elements cost less than their way to another rank.
        if (columns_of_A_.imaginary) hamiltonian_.fill(-time_step_, midpoint, *columns_of_A_.imaginary);
        // For the watch alone; the plan blocks at once all the same, for the norm of A.
        comm_.space().fence("heddle::schrodinger::hamiltonian");
      }
      report_ = plan_.execute(A_, columns_of_A_, E_);
      times.expm += report_->seconds;
      times.gemm += report_->gemm_seconds;
    }
    const Stopwatch watch(times.apply);
    apply_(E_, psi);
  }

 private:
  Communicator comm_;
  bool moves_;
  DeviceHamiltonian hamiltonian_;
  double time_step_;
  ExpmPlan<double> plan_;
  ApplyExponential apply_;
  SplitMatrix<double> A_;
  SplitMatrix<double> columns_of_A_;
  SplitMatrix<double> E_;
};

// By LAPACK on the host of rank 0: n w^2 operations a step for differences, 8/3 n^3 for sinc with moving nuclei.
// psi' = 2 (1 + i H dt/2)^-1 psi - psi, which is (1 + i H dt/2)^-1 (1 - i H dt/2) psi with one product less.
class CrankNicolson : public Propagator {
 public:
  CrankNicolson(const Communicator& comm, const Hamiltonian& hamiltonian, double time_step)
      : comm_(comm), hamiltonian_(hamiltonian), time_step_(time_step) {}

  void advance(double midpoint, WaveFunction& psi, SimulationTimes& times) override {
    const Stopwatch watch(times.solve);
    State state = psi.host();
    comm_.on_rank(0, [&] {
      if (!factors_ || hamiltonian_.moves()) factors_.emplace(factored(midpoint));
      State solved = state;
      factors_->solve(solved);
      for (std::size_t i = 0; i < state.size(); ++i) state[i] = 2.0 * solved[i] - state[i];
    });
    comm_.broadcast(std::span(state), 0);
    psi.assign(state);
  }

 private:
  [[nodiscard]] lapack::Lu factored(double midpoint) const {
    const std::vector<double> potential = hamiltonian_.potential_at(midpoint);
    const auto kinetic = hamiltonian_.kinetic();
    const auto n = static_cast<std::ptrdiff_t>(potential.size());
    const auto width = static_cast<std::ptrdiff_t>(kinetic.size()) - 1;
    const bool banded = lapack::Lu::banded(static_cast<int>(n), static_cast<int>(width));
    const std::ptrdiff_t leading = banded ? 3 * width + 1 : n;
    std::vector<std::complex<double>> matrix(static_cast<std::size_t>(leading * n));
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      // Row i of column j is at diagonal + i - j in either storage.
      std::complex<double>* diagonal = matrix.data() + j * leading + (banded ? 2 * width : j);
      diagonal[0] = {1.0, (kinetic[0] + potential[j]) * time_step_ / 2};
      for (std::ptrdiff_t d = 1; d <= width; ++d) {
        const std::complex<double> value(0.0, kinetic[d] * time_step_ / 2);
        if (j + d < n) diagonal[d] = value;
        if (j - d >= 0) diagonal[-d] = value;
      }
    }
    return {static_cast<int>(n), static_cast<int>(width), std::move(matrix)};
  }

  Communicator comm_;
  Hamiltonian hamiltonian_;
  double time_step_;
  std::optional<lapack::Lu> factors_;
};

}  // namespace

std::unique_ptr<Propagator> make_propagator(const Communicator& comm, const Hamiltonian& hamiltonian, double time_step,
                                            const PropagatorOptions& options) {
  if (options.kind == PropagatorKind::crank_nicolson) {
    return std::make_unique<CrankNicolson>(comm, hamiltonian, time_step);
  }
  return std::make_unique<Exponential>(comm, hamiltonian, time_step, options);
}

}  // namespace heddle::impl
