// Crank and Nicolson's method.
#include "blas/lapack.hpp"
#include "libm/functions.hpp"
#include "schrodinger/propagators/propagators.hpp"
#include "schrodinger/simulation/stopwatch.hpp"

#include <cmath>
#include <utility>

namespace heddle::impl {

namespace {

using schrodinger::Hamiltonian;
using schrodinger::PropagatorOptions;
using schrodinger::SimulationTimes;
using schrodinger::State;

// Solved by LAPACK on the host of rank 0: n w^2 operations a step for differences, 8/3 n^3 for sinc with moving nuclei.
// psi' = 2 (1 + i H dt/2)^-1 psi - psi, which is (1 + i H dt/2)^-1 (1 - i H dt/2) psi with one product less.
//
// Half of exp(-W dt) is applied before and half after: in the fraction itself an absorber of W > 2/dt would change
// psi's sign instead of damping it.
class CrankNicolson : public Propagator {
 public:
  CrankNicolson(const Communicator& comm, const Hamiltonian& hamiltonian, double time_step,
                const PropagatorOptions& options)
      : Propagator(choice_of(options)), comm_(comm), hamiltonian_(hamiltonian), time_step_(time_step) {
    for (const double rate : hamiltonian.absorption()) damping_.push_back(libm::exp(-0.5 * rate * part()));
  }

  void advance(double midpoint, std::span<WaveFunction> states, SimulationTimes& times) override {
    const Stopwatch watch(times.solve);
    std::vector<State> values;
    for (const WaveFunction& psi : states) values.push_back(psi.host());
    comm_.on_rank(0, [&] {
      each_substep(midpoint, time_step_, [&](double middle) {
        if (!factors_ || hamiltonian_.moves()) factors_.emplace(factored(middle));
        for (State& state : values) turn(state);
      });
    });
    for (std::size_t k = 0; k < states.size(); ++k) {
      comm_.broadcast(std::span(values[k]), 0);
      states[k].assign(values[k]);
    }
  }

 private:
  [[nodiscard]] double part() const { return time_step_ / choice_.substeps; }

  void turn(State& state) const {
    damp(state);
    State solved = state;
    factors_->solve(solved);
    for (std::size_t i = 0; i < state.size(); ++i) state[i] = 2.0 * solved[i] - state[i];
    damp(state);
  }

  void damp(State& state) const {
    for (std::size_t i = 0; i < damping_.size(); ++i) state[i] *= damping_[i];
  }

  [[nodiscard]] lapack::Lu factored(double middle) const {
    const std::vector<double> potential = hamiltonian_.potential_at(middle);
    const auto kinetic = hamiltonian_.kinetic();
    const auto n = static_cast<std::ptrdiff_t>(potential.size());
    const auto width = static_cast<std::ptrdiff_t>(kinetic.size()) - 1;
    const bool banded = lapack::Lu::banded(static_cast<int>(n), static_cast<int>(width));
    const std::ptrdiff_t leading = banded ? 3 * width + 1 : n;
    std::vector<std::complex<double>> matrix(static_cast<std::size_t>(leading * n));
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      // Row i of column j is at diagonal + i - j in either storage.
      std::complex<double>* diagonal = matrix.data() + j * leading + (banded ? 2 * width : j);
      diagonal[0] = {1.0, (kinetic[0] + potential[j]) * part() / 2};
      for (std::ptrdiff_t d = 1; d <= width; ++d) {
        const std::complex<double> value(0.0, kinetic[d] * part() / 2);
        if (j + d < n) diagonal[d] = value;
        if (j - d >= 0) diagonal[-d] = value;
      }
    }
    return {static_cast<int>(n), static_cast<int>(width), std::move(matrix)};
  }

  Communicator comm_;
  Hamiltonian hamiltonian_;
  double time_step_;
  std::vector<double> damping_;
  std::optional<lapack::Lu> factors_;
};

}  // namespace

std::unique_ptr<Propagator> make_crank_nicolson(const Communicator& comm, const Hamiltonian& hamiltonian,
                                                double time_step, const PropagatorOptions& options) {
  return std::make_unique<CrankNicolson>(comm, hamiltonian, time_step, options);
}

}  // namespace heddle::impl
