// The cheapest propagator for an accuracy.
#include "schrodinger/hamiltonian/fourier.hpp"
#include "schrodinger/hamiltonian/kinetic_symbol.hpp"
#include "schrodinger/propagators/chebyshev.hpp"
#include "schrodinger/propagators/propagators.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

namespace heddle::impl {

namespace {

using schrodinger::Hamiltonian;
using schrodinger::Kinetic;
using schrodinger::PropagatorChoice;
using schrodinger::PropagatorKind;
using schrodinger::PropagatorOptions;
using schrodinger::SimulationTimes;
using schrodinger::State;

constexpr double default_tolerance = 1e-6;
constexpr double round_off = 1e-14;  // of two propagations that are compared
constexpr int most_substeps = 100000;
constexpr int later_samples = 4;

// Seconds, of one core of an AVX-512 machine: what decides between methods is their ratios. Each was measured there for
// 200 to 4000 points.
namespace seconds {
constexpr double step = 1.5e-6;            // kernels and copies, whatever the method
constexpr double chebyshev_point = 4e-10;  // of a term, each of the real and imaginary part
constexpr double diagonal = 1e-10;         // more for each t_d
constexpr double potential = 2e-8;         // V at a point, its bounds, and coefficients
constexpr double transform = 4e-10;        // a value of a Fourier transform, times log2 of the length
constexpr double line = 1e-8;              // a point in what lies between two transforms
constexpr double phase = 1.7e-8;           // V, sine and cosine at a point
constexpr double solve = 3e-8;             // a point, by factors of a banded matrix
constexpr double factor = 7e-8;            // a point of these factors
constexpr double flop = 4e-11;             // in a product of matrices
constexpr double element = 1e-9;           // of the exponential in psi' = E psi
}  // namespace seconds

struct Candidate {
  PropagatorKind kind;
  int order;
};

// A step's part of `duration`, by counting. On one rank, however many there are: the choice, and with it the result, is
// the same on any number.
double cost_of(const Candidate& candidate, const Hamiltonian& hamiltonian, double duration, double tolerance,
               double steps) {
  const auto n = static_cast<double>(hamiltonian.grid().points);
  const bool moves = hamiltonian.moves();
  const auto width = static_cast<double>(hamiltonian.kinetic().size() - 1);
  const int factors = candidate.order == 4 && moves ? 2 : 1;
  const std::vector<double> potential = hamiltonian.potential_at(0.0);
  const auto [least, most] = std::minmax_element(potential.begin(), potential.end());
  const double radius = 0.5 * (*most - *least + largest_kinetic(hamiltonian));
  const auto transform = [](double length) { return seconds::transform * length * std::log2(length); };
  switch (candidate.kind) {
    case PropagatorKind::chebyshev: {
      const auto absorption = hamiltonian.absorption();
      const double loss = absorption.empty() ? 0.0 : 0.5 * *std::max_element(absorption.begin(), absorption.end());
      const ChebyshevSeries series = chebyshev_series(radius, loss, duration / factors, tolerance);
      const auto terms = static_cast<double>(series.coefficients.size()) * series.repeats;
      const bool transformed = hamiltonian.grid().kinetic == Kinetic::sinc && has_fourier();
      const double product = transformed ? 2 * transform(2 * n) + seconds::line * n
                                         : 2 * n * (seconds::chebyshev_point + seconds::diagonal * width);
      return seconds::step + factors * (terms * product + (moves ? n * seconds::potential : 0.0));
    }
    case PropagatorKind::split_operator: {
      const double drifts = candidate.order == 4 ? 6 : 1;
      const double kicks = !moves ? 0 : candidate.order == 4 ? 7 : 1;
      return seconds::step + drifts * (2 * transform(3 * n) + seconds::line * n) + kicks * n * seconds::phase;
    }
    case PropagatorKind::crank_nicolson:
      return seconds::step + n * (seconds::solve + (moves ? seconds::factor : 0.0));
    default: {
      // Some 6 products and a squaring for each doubling of the norm, cosine and sine; 4 products of reals each.
      const double products = 2 * (6 + std::max(0.0, std::log2(radius * duration / factors)));
      const double share = moves ? factors : 1 / steps;
      return seconds::step + share * products * 2 * n * n * n * seconds::flop + factors * n * n * seconds::element;
    }
  }
}

double distance(const State& a, const State& b) {
  double difference = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::norm(a[i] - b[i]);
    size += std::norm(b[i]);
  }
  return size > 0 ? std::sqrt(difference / size) : 0.0;
}

class Automatic : public Propagator {
 public:
  Automatic(const Communicator& comm, const Hamiltonian& hamiltonian, double time_step,
            const PropagatorOptions& options)
      : Propagator(PropagatorChoice{}),
        comm_(comm),
        hamiltonian_(hamiltonian),
        time_step_(time_step),
        options_(options) {
    if (options_.tolerance == 0.0) options_.tolerance = default_tolerance;
  }

  void advance(double midpoint, std::span<WaveFunction> states, SimulationTimes& times) override {
    if (!chosen_) choose(midpoint, states.front().host());
    chosen_->advance(midpoint, states, times);
    report_ = chosen_->report();
  }

 private:
  // An exponential's share in the error of a part of the step.
  [[nodiscard]] double inner_tolerance(int substeps) const {
    return std::clamp(0.1 * options_.tolerance * time_step_ / substeps, unit_roundoff<double>, 0.1);
  }

  [[nodiscard]] PropagatorOptions options_for(const Candidate& candidate, int substeps) const {
    PropagatorOptions options;
    options.kind = candidate.kind;
    options.order = candidate.order;
    options.tile = options_.tile;
    options.tolerance = inner_tolerance(substeps);
    return options;
  }

  // Rank 0's on every rank: processors of several kinds may round differently, and what follows is collective.
  [[nodiscard]] double agreed(double value) const {
    comm_.broadcast(std::span(&value, 1), 0);
    return value;
  }

  // Of psi per unit of time, by a step of dt/substeps and two of half of it: their difference is the error of the first
  // but for 2^-order of it. The largest of those looked at; infinity where there is none.
  double error_rate(const Candidate& candidate, int substeps, double begin, const State& psi) const {
    try {
      return agreed(error_rate_here(candidate, substeps, begin, psi));
    } catch (const Error& error) {
      // Other than collective work, a series that would be too long is found out by each rank alone.
      if (candidate.kind != PropagatorKind::chebyshev || error.kind() != ErrorKind::argument) throw;
      return agreed(std::numeric_limits<double>::infinity());
    }
  }

  double error_rate_here(const Candidate& candidate, int substeps, double begin, const State& psi) const {
    const double step = time_step_ / substeps;
    PropagatorOptions options = options_for(candidate, substeps);
    const auto whole = make_propagator(comm_, hamiltonian_, step, options);
    options.substeps = 2;
    const auto halves = make_propagator(comm_, hamiltonian_, step, options);
    std::vector<WaveFunction> one;
    one.emplace_back(comm_, hamiltonian_.grid().points);
    std::vector<WaveFunction> two;
    two.emplace_back(comm_, hamiltonian_.grid().points);
    SimulationTimes unused;
    double largest = 0.0;
    const int samples = options_.duration > 0 && hamiltonian_.moves() ? 1 + later_samples : 1;
    for (int k = 0; k < samples; ++k) {
      const double middle = begin + 0.5 * step + options_.duration * k / samples;
      one.front().assign(psi);
      two.front().assign(psi);
      whole->advance(middle, one, unused);
      halves->advance(middle, two, unused);
      const double error = distance(one.front().host(), two.front().host());
      if (!std::isfinite(error)) return std::numeric_limits<double>::infinity();
      if (error > round_off) largest = std::max(largest, error / step);
    }
    const double power = std::pow(2.0, candidate.order);
    return largest * power / (power - 1);
  }

  // Of the substeps that the tolerance asks for; 0: more than can be.
  int substeps_for(const Candidate& candidate, double begin, const State& psi, double& rate) const {
    int substeps = 1;
    while (true) {
      rate = error_rate(candidate, substeps, begin, psi);
      if (rate <= options_.tolerance) return substeps;
      if (std::isinf(rate)) return 0;
      const double more = std::min(std::pow(rate / (0.8 * options_.tolerance), 1.0 / candidate.order), 32.0);
      substeps = std::max(substeps + 1, static_cast<int>(std::ceil(substeps * more)));
      if (substeps > most_substeps) return 0;
    }
  }

  [[nodiscard]] std::vector<Candidate> candidates() const {
    std::vector<Candidate> all = {{PropagatorKind::chebyshev, 2}};
    // Their exponentials are the same, but computed as matrices: the errors are known then.
    all.push_back({PropagatorKind::expm, 2});
    if (hamiltonian_.moves()) {
      all.push_back({PropagatorKind::chebyshev, 4});
      all.push_back({PropagatorKind::magnus4, 4});
    }
    if (has_fourier()) {
      all.push_back({PropagatorKind::split_operator, 2});
      all.push_back({PropagatorKind::split_operator, 4});
    }
    if (hamiltonian_.grid().kinetic != Kinetic::sinc) all.push_back({PropagatorKind::crank_nicolson, 2});
    if (options_.order > 0) std::erase_if(all, [&](const Candidate& one) { return one.order != options_.order; });
    // Where H does not move, an exponential is exact in dt and of any order.
    if (all.empty() || (!hamiltonian_.moves() && options_.order == 4)) all.push_back({PropagatorKind::chebyshev, 4});
    return all;
  }

  void choose(double midpoint, const State& psi) {
    struct Judged {
      Candidate candidate{};
      int substeps = 1;
      double rate = 0.0;
      double seconds = 0.0;
    };
    const double begin = midpoint - 0.5 * time_step_;
    // Over which the exponential of an H that does not move is computed once.
    const double steps = options_.duration > 0 ? std::max(options_.duration / time_step_, 1.0) : 1000.0;
    std::vector<Judged> judged;
    for (const Candidate& candidate : candidates()) {
      Judged one{candidate, 1, 0.0, 0.0};
      if (candidate.kind == PropagatorKind::expm || candidate.kind == PropagatorKind::magnus4) {
        if (judged.empty() || judged.back().candidate.kind != PropagatorKind::chebyshev) continue;
        one.substeps = judged.back().substeps;
        one.rate = judged.back().rate;
      } else {
        one.substeps = substeps_for(candidate, begin, psi, one.rate);
        if (one.substeps == 0) continue;
      }
      one.seconds = agreed(one.substeps * cost_of(candidate, hamiltonian_, time_step_ / one.substeps,
                                                  inner_tolerance(one.substeps), steps));
      judged.push_back(one);
    }
    require(!judged.empty(), "propagator automatic: no method reaches an error of ", options_.tolerance,
            " per atomic unit of time in ", most_substeps, " substeps; take a smaller step");
    std::sort(judged.begin(), judged.end(), [](const Judged& a, const Judged& b) { return a.seconds < b.seconds; });
    const Judged& best = judged.front();
    PropagatorOptions options = options_for(best.candidate, best.substeps);
    options.substeps = best.substeps;
    chosen_ = make_propagator(comm_, hamiltonian_, time_step_, options);
    choice_ = chosen_->choice();
    std::ostringstream reason;
    reason.precision(2);
    reason << "error " << best.rate << " per unit of time, " << options_.tolerance << " asked for; " << best.seconds
           << " s a step by the cost model";
    if (judged.size() > 1) {
      const Judged& next = judged[1];
      reason << ", the next is " << to_string(next.candidate.kind) << " of order " << next.candidate.order << " with "
             << next.substeps << (next.substeps == 1 ? " substep and " : " substeps and ") << next.seconds << " s";
    }
    choice_.reason = reason.str();
  }

  Communicator comm_;
  Hamiltonian hamiltonian_;
  double time_step_;
  PropagatorOptions options_;
  std::unique_ptr<Propagator> chosen_;
};

}  // namespace

std::unique_ptr<Propagator> make_automatic(const Communicator& comm, const Hamiltonian& hamiltonian, double time_step,
                                           const PropagatorOptions& options) {
  return std::make_unique<Automatic>(comm, hamiltonian, time_step, options);
}

}  // namespace heddle::impl
