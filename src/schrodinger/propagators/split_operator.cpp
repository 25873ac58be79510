// Split-operator steps with the kinetic energy in sines.
#include "schrodinger/propagators/split_operator.hpp"

#include "libm/functions.hpp"
#include "schrodinger/hamiltonian/device_hamiltonian.hpp"
#include "schrodinger/hamiltonian/kinetic_symbol.hpp"
#include "schrodinger/propagators/propagators.hpp"
#include "schrodinger/simulation/stopwatch.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>

namespace heddle::impl {

namespace {

using Complex = Kokkos::complex<double>;
using schrodinger::Hamiltonian;
using schrodinger::PropagatorOptions;
using schrodinger::SimulationTimes;

DeviceComplexes complexes(const ExecutionSpace& space, const char* label, Index size) {
  return DeviceComplexes(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, std::string(label)),
                         static_cast<std::size_t>(size));
}

// phases = exp(-i V duration - W duration); without W if it is empty.
void fill_phases(const ExecutionSpace& space, const DevicePotential& potential, const DeviceValues& absorption,
                 double duration, const DeviceComplexes& phases) {
  const bool absorbs = absorption.extent(0) > 0;
  Kokkos::parallel_for(
      "heddle::schrodinger::potential_phases", GridRange(space, 0, static_cast<Index>(phases.extent(0))),
      KOKKOS_LAMBDA(Index i) {
        const double angle = -duration * potential(i);
        const double size = absorbs ? Kokkos::exp(-duration * absorption(i)) : 1.0;
        phases(i) = Complex(size * Kokkos::cos(angle), size * Kokkos::sin(angle));
      });
}

// Length of the line: the period, if its transforms are fast.
Index length_for(Index walls) {
  constexpr Index largest_prime = 13;
  Index rest = 2 * walls;
  for (Index prime = 2; prime <= largest_prime; ++prime) {
    while (rest % prime == 0) rest /= prime;
  }
  return rest == 1 ? 2 * walls : fast_length(3 * walls);
}

}  // namespace

SineTransform::SineTransform(const ExecutionSpace& space, const Hamiltonian& hamiltonian)
    : space_(space),
      hamiltonian_(hamiltonian),
      walls_(hamiltonian.grid().points + 1),
      length_(length_for(walls_)),
      fourier_(space, length_) {}

DeviceComplexes SineTransform::line() const {
  return complexes(space_, "heddle::schrodinger::line", length_);
}

// psi at j = -n ... n is at index j + n: the part right of 0 at n + 1 + i, its mirror image at n - 1 - i.
void SineTransform::load(const DeviceComplexes& psi, const DeviceComplexes& line) const {
  const Index walls = walls_;
  Kokkos::parallel_for(
      "heddle::schrodinger::sine_load", GridRange(space_, 0, walls - 1),
      KOKKOS_LAMBDA(Index i) { line(walls + i) = psi(i); });
}

void SineTransform::store(const DeviceComplexes& line, const DeviceComplexes& psi) const {
  const Index walls = walls_;
  Kokkos::parallel_for(
      "heddle::schrodinger::sine_store", GridRange(space_, 0, walls - 1),
      KOKKOS_LAMBDA(Index i) { psi(i) = line(walls + i); });
}

void SineTransform::multiply(const DeviceComplexes& phases, const DeviceComplexes& line) const {
  const Index walls = walls_;
  // The last items are index 0 and those beyond psi: all that are neither psi nor its image.
  Kokkos::parallel_for(
      "heddle::schrodinger::sine_multiply", GridRange(space_, 0, length_ - (walls - 1)), KOKKOS_LAMBDA(Index i) {
        if (i < walls - 1) {
          const Complex product = line(walls + i) * phases(i);
          line(walls + i) = product;
          line(walls - 2 - i) = -product;
        } else {
          line(i == walls - 1 ? i : walls + i - 1) = 0.0;
        }
      });
}

DeviceComplexes SineTransform::spectrum(double duration) const {
  const Index period = 2 * walls_;
  const auto phase = [&](Index k) {
    const double theta = std::numbers::pi * static_cast<double>(std::min(k, period - k)) / static_cast<double>(walls_);
    const double angle = -duration * kinetic_symbol(hamiltonian_, theta);
    return Complex(libm::cos(angle), libm::sin(angle)) / static_cast<double>(length_);
  };
  DeviceComplexes values = complexes(space_, "heddle::schrodinger::sine_spectrum", period);
  const auto host = Kokkos::create_mirror_view(values);
  for (Index k = 0; k < period; ++k) host(k) = phase(k);
  Kokkos::deep_copy(space_, values, host);
  space_.fence("heddle::schrodinger::sine_spectrum");
  if (length_ == period) return values;
  // Keep those elements of the convolution's kernel that lead from psi and its image to psi.
  Fourier(space_, period).backward(values);
  const DeviceComplexes kernel = complexes(space_, "heddle::schrodinger::sine_spectrum", length_);
  const Index n = walls_ - 1;
  const Index length = length_;
  Kokkos::parallel_for(
      "heddle::schrodinger::sine_kernel", GridRange(space_, 0, length), KOKKOS_LAMBDA(Index k) {
        const Index distance = k <= 2 * n ? k : k - length;
        kernel(k) = distance >= -n ? values((distance + period) % period) / static_cast<double>(period) : Complex(0.0);
      });
  fourier_.forward(kernel);
  return kernel;
}

void SineTransform::convolve(const DeviceComplexes& spectrum, const DeviceComplexes& line) const {
  fourier_.forward(line);
  Kokkos::parallel_for(
      "heddle::schrodinger::sine_convolve", GridRange(space_, 0, length_),
      KOKKOS_LAMBDA(Index k) { line(k) *= spectrum(k); });
  fourier_.backward(line);
}

std::vector<SplitStage> split_stages(int order) {
  if (order == 2) return {{0.5, 0.0, 1.0}, {0.5, 0.0, 0.0}};
  constexpr double b1 = 0.0829844064174052;
  constexpr double b2 = 0.396309801498368;
  constexpr double b3 = -0.0390563049223486;
  constexpr double a1 = 0.245298957184271;
  constexpr double a2 = 0.604872665711080;
  constexpr double kicks[] = {b1, b2, b3, 1 - 2 * (b1 + b2 + b3), b3, b2, b1};
  constexpr double drifts[] = {a1, a2, 0.5 - (a1 + a2), 0.5 - (a1 + a2), a2, a1, 0.0};
  std::vector<SplitStage> stages;
  double time = -0.5;
  for (int k = 0; k < 7; ++k) {
    stages.push_back({kicks[k], time, drifts[k]});
    time += drifts[k];
  }
  return stages;
}

namespace {

// Every rank does all the work: a vector of some thousand values is not worth a message.
class SplitOperator : public Propagator {
 public:
  SplitOperator(const Communicator& comm, const Hamiltonian& hamiltonian, double time_step,
                const PropagatorOptions& options)
      : Propagator(choice_of(options)),
        space_(comm.space()),
        moves_(hamiltonian.moves()),
        time_step_(time_step),
        part_(time_step / choice_.substeps),
        hamiltonian_(comm.space(), hamiltonian),
        sines_(comm.space(), hamiltonian),
        absorption_(device_copy(comm.space(), "heddle::schrodinger::absorption", hamiltonian.absorption())),
        points_(hamiltonian.grid().points),
        stages_(split_stages(choice_.order)) {
    for (const SplitStage& stage : stages_) {
      if (stage.drift != 0.0 && !drifts_.contains(stage.drift)) {
        drifts_.emplace(stage.drift, sines_.spectrum(stage.drift * part_));
      }
    }
  }

  void advance(double midpoint, std::span<WaveFunction> states, SimulationTimes& times) override {
    const Stopwatch watch(times.apply);
    while (lines_.size() < states.size()) lines_.push_back(sines_.line());
    for (std::size_t k = 0; k < states.size(); ++k) sines_.load(states[k].device(), lines_[k]);
    each_substep(midpoint, time_step_, [&](double middle) {
      for (const SplitStage& stage : stages_) {
        const DeviceComplexes& phases = kick_phases(stage.kick, middle + stage.time * part_);
        for (std::size_t k = 0; k < states.size(); ++k) {
          sines_.multiply(phases, lines_[k]);
          if (stage.drift != 0.0) sines_.convolve(drifts_.at(stage.drift), lines_[k]);
        }
      }
    });
    for (std::size_t k = 0; k < states.size(); ++k) {
      sines_.store(lines_[k], states[k].device());
      to_host(space_, states[k]);
    }
  }

 private:
  // Phases are kept for each kick, and reused as long as V is the same.
  const DeviceComplexes& kick_phases(double kick, double time) {
    Kick& known = kicks_[kick];
    if (known.time && (!moves_ || *known.time == time)) return known.phases;
    if (!known.time) known.phases = complexes(space_, "heddle::schrodinger::potential_phases", points_);
    fill_phases(space_, hamiltonian_.potential_at(time), absorption_, kick * part_, known.phases);
    known.time = time;
    return known.phases;
  }

  struct Kick {
    std::optional<double> time;
    DeviceComplexes phases;
  };
  ExecutionSpace space_;
  bool moves_;
  double time_step_;
  double part_;
  DeviceHamiltonian hamiltonian_;
  SineTransform sines_;
  DeviceValues absorption_;
  Index points_;
  std::vector<SplitStage> stages_;
  std::map<double, Kick> kicks_;
  std::map<double, DeviceComplexes> drifts_;
  std::vector<DeviceComplexes> lines_;
};

}  // namespace

std::unique_ptr<Propagator> make_split_operator(const Communicator& comm, const Hamiltonian& hamiltonian,
                                                double time_step, const PropagatorOptions& options) {
  return std::make_unique<SplitOperator>(comm, hamiltonian, time_step, options);
}

}  // namespace heddle::impl
