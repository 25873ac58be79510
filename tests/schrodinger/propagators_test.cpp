// Propagators: their order in dt, norm, absorption, and agreement.
#include "problems.hpp"
#include "schrodinger/hamiltonian/fourier.hpp"
#include "schrodinger/propagators/propagator.hpp"
#include "support/errors.hpp"
#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <numbers>

namespace heddle::test::propagators_test {
namespace {

using schrodinger::Absorber;
using schrodinger::AbsorberKind;
using schrodinger::PropagatorOptions;
using schrodinger::Pulse;

struct Method {
  PropagatorKind kind;
  int order;
  [[nodiscard]] std::string name() const { return message_of(to_string(kind), " of order ", order); }
};

// The methods of this build.
const std::vector<Method> methods = [] {
  std::vector<Method> all = {{PropagatorKind::expm, 2},
                             {PropagatorKind::magnus4, 4},
                             {PropagatorKind::crank_nicolson, 2},
                             {PropagatorKind::chebyshev, 2},
                             {PropagatorKind::chebyshev, 4}};
  if (impl::has_fourier()) {
    all.push_back({PropagatorKind::split_operator, 2});
    all.push_back({PropagatorKind::split_operator, 4});
  }
  return all;
}();

bool splits(PropagatorKind kind) {
  return kind == PropagatorKind::split_operator || kind == PropagatorKind::crank_nicolson;
}

State after(const Communicator& comm, const Hamiltonian& hamiltonian, const PropagatorOptions& propagator,
            const State& initial, double duration, Index steps) {
  SimulationOptions options;
  options.time_step = duration / static_cast<double>(steps);
  options.propagator = propagator;
  options.states = 0;
  return state_after(comm, hamiltonian, options, initial, steps);
}

PropagatorOptions options_for(const Method& method) {
  PropagatorOptions options;
  options.kind = method.kind;
  options.order = method.order;
  return options;
}

double norm_of(const Grid& grid, const State& state) {
  return distance(grid, state, State(state.size()));
}

// Expect |error(dt)/error(dt/2)/2^order - 1| to be small, and the errors to be above round-off.
void expect_order(const Method& method, double coarse, double fine) {
  EXPECT_GT(fine, 1e-11) << method.name();
  EXPECT_NEAR(coarse / fine / std::pow(2.0, method.order), 1.0, 0.1) << method.name() << ": " << coarse << ", " << fine;
}

// Ground state of a harmonic oscillator that moves along q(t), p = q' (S. Kennard, 1927); `phase` as in the exponent.
State coherent_state(const Grid& grid, double omega, double q, double p, double phase) {
  State state;
  for (const double x : grid.positions()) {
    const double size = std::pow(omega / std::numbers::pi, 0.25) * std::exp(-0.5 * omega * (x - q) * (x - q));
    state.push_back(std::polar(size, p * (x - q) + phase));
  }
  return state;
}

TEST(Propagators, CoherentStateInClosedForm) {
  const double omega = 1.25;
  const double start = 1.5;
  const double duration = 2.0;
  const Grid grid{-9, 9, 97, Kinetic::sinc};
  const Hamiltonian hamiltonian(grid, harmonic(omega));
  const State initial = coherent_state(grid, omega, start, 0.0, 0.0);
  const double q = start * std::cos(omega * duration);
  const double p = -start * omega * std::sin(omega * duration);
  const State exact = coherent_state(grid, omega, q, p, 0.5 * (p * q - omega * duration));
  for (const Method& method : methods) {
    const auto error = [&](Index steps) {
      return distance(grid, after(world(), hamiltonian, options_for(method), initial, duration, steps), exact);
    };
    if (splits(method.kind)) {
      const Index steps = method.order == 2 ? 80 : 20;
      expect_order(method, error(steps), error(2 * steps));
    } else {
      EXPECT_LT(error(1), 1e-11) << method.name();
    }
  }
}

// A pulse on the oscillator moves its ground state along the classical path; the phase is ignored here.
TEST(Propagators, DrivenOscillatorInClosedForm) {
  const double omega = 1.0;
  const double duration = 4.0;
  const Grid grid{-9, 9, 97, Kinetic::sinc};
  Pulse pulse;
  pulse.amplitude = 0.7;
  pulse.omega = 1.3;
  pulse.phase = 0.4;
  pulse.duration = 6.0;
  pulse.centre = 2.5;
  const Hamiltonian hamiltonian(grid, harmonic(omega), {}, {pulse});
  // q'' = -omega^2 q - E(t), by the classical Runge-Kutta rule.
  double q = 0.0;
  double p = 0.0;
  const int parts = 4000;
  const double h = duration / parts;
  for (int k = 0; k < parts; ++k) {
    const auto force = [&](double time, double at) { return -omega * omega * at - hamiltonian.field(time); };
    const double t = k * h;
    const double k1 = force(t, q);
    const double k2 = force(t + h / 2, q + h / 2 * p);
    const double k3 = force(t + h / 2, q + h / 2 * (p + h / 2 * k1));
    const double k4 = force(t + h, q + h * (p + h / 2 * k2));
    q += h * (p + h / 6 * (k1 + k2 + k3));
    p += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  const State initial = coherent_state(grid, omega, 0.0, 0.0, 0.0);
  State exact = coherent_state(grid, omega, q, p, 0.0);
  for (const Method& method : methods) {
    const auto error = [&](Index steps) {
      const State state = after(world(), hamiltonian, options_for(method), initial, duration, steps);
      std::complex<double> overlap = 0.0;
      for (std::size_t i = 0; i < state.size(); ++i) overlap += std::conj(exact[i]) * state[i];
      for (auto& value : exact) value *= overlap / std::abs(overlap);
      return distance(grid, state, exact);
    };
    expect_order(method, error(40), error(80));
  }
}

// As in src/drivers/decks/h2plus-stretch.toml.
Hamiltonian stretched_ion() {
  return {Grid{-10, 10, 201, Kinetic::fd2}, soft_core(30, 0.1), moving(Motion::stretch)};
}

TEST(Propagators, OrdersOnTheStretchedIon) {
  const Hamiltonian hamiltonian = stretched_ion();
  const State initial = schrodinger::eigenstate(hamiltonian, 0);
  const double duration = 0.064;
  const State converged =
      after(world(), hamiltonian, options_for({PropagatorKind::chebyshev, 4}), initial, duration, 512);
  for (const Method& method : methods) {
    const auto error = [&](Index steps) {
      return distance(hamiltonian.grid(), after(world(), hamiltonian, options_for(method), initial, duration, steps),
                      converged);
    };
    const Index steps = method.kind == PropagatorKind::crank_nicolson   ? 64
                        : method.kind == PropagatorKind::split_operator ? 16
                                                                        : 8;
    expect_order(method, error(steps), error(2 * steps));
  }
}

TEST(Propagators, ExponentialsOfEitherKindAreTheSame) {
  Absorber absorber;
  absorber.kind = AbsorberKind::polynomial;
  absorber.width = 3.0;
  absorber.strength = 20.0;
  for (const Kinetic kinetic : {Kinetic::fd2, Kinetic::fd4, Kinetic::fd6, Kinetic::sinc}) {
    for (const bool absorbs : {false, true}) {
      const Grid grid{-8, 8, 65, kinetic};
      const Hamiltonian hamiltonian(grid, soft_core(1, 1), moving(Motion::stretch), {},
                                    absorbs ? absorber : Absorber{});
      const State initial = schrodinger::gaussian_packet(grid, 3.0, 1.0, 1.0);
      for (const auto& [dense, action] : {std::pair(PropagatorKind::expm, 2), {PropagatorKind::magnus4, 4}}) {
        const State first = after(world(), hamiltonian, options_for({dense, action}), initial, 1.0, 4);
        const State second =
            after(world(), hamiltonian, options_for({PropagatorKind::chebyshev, action}), initial, 1.0, 4);
        EXPECT_LT(distance(grid, first, second), 3e-13)
            << to_string(kinetic) << ", " << to_string(dense) << ' ' << absorbs;
        EXPECT_EQ(norm_of(grid, first) < 0.99, absorbs);
      }
    }
  }
}

TEST(Propagators, AllAgreeAsTheStepShrinks) {
  Absorber absorber;
  absorber.kind = AbsorberKind::transmission_free;
  absorber.width = 3.0;
  const Grid grid{-8, 8, 65, Kinetic::fd2};
  const Hamiltonian hamiltonian(grid, soft_core(1, 1), moving(Motion::shake), {}, absorber);
  const State initial = schrodinger::gaussian_packet(grid, 2.0, 1.0, 1.0);
  const State converged = after(world(), hamiltonian, options_for({PropagatorKind::chebyshev, 4}), initial, 1.0, 200);
  for (const Method& method : methods) {
    const Index steps = method.order == 2 ? 1600 : 200;
    if (method.kind == PropagatorKind::expm) continue;  // same as chebyshev, see above
    EXPECT_LT(distance(grid, after(world(), hamiltonian, options_for(method), initial, 1.0, steps), converged),
              method.order == 2 ? 2e-5 : 2e-8)
        << method.name();
  }
}

TEST(Propagators, KeepTheNorm) {
  const Hamiltonian hamiltonian = vibrating_ion();
  const State initial = schrodinger::gaussian_packet(hamiltonian.grid(), 0.5, 0.5, 1.2);
  const double before = norm_of(hamiltonian.grid(), initial);
  for (const Method& method : methods) {
    const State state = after(world(), hamiltonian, options_for(method), initial, 2.0, 100);
    EXPECT_NEAR(norm_of(hamiltonian.grid(), state), before, 4e-13) << method.name();
  }
}

TEST(Propagators, ConstantAbsorptionIsAnExponential) {
  const Grid grid{-8, 8, 64, Kinetic::fd4};
  Absorber absorber;
  absorber.kind = AbsorberKind::polynomial;
  absorber.power = 0.0;
  absorber.width = 8.0;
  absorber.strength = 0.6;
  const Hamiltonian hamiltonian(grid, soft_core(1, 1), moving(Motion::stretch), {}, absorber);
  ASSERT_EQ(hamiltonian.absorption().size(), 64U);
  ASSERT_EQ(hamiltonian.absorption()[31], 0.6);
  const State initial = schrodinger::gaussian_packet(grid, 0.5, 0.5, 1.2);
  for (const Method& method : methods) {
    const State state = after(world(), hamiltonian, options_for(method), initial, 2.0, 40);
    EXPECT_NEAR(norm_of(grid, state) / norm_of(grid, initial) * std::exp(0.6 * 2.0), 1.0, 1e-12) << method.name();
  }
}

TEST(Propagators, SubstepsAreSteps) {
  const Hamiltonian hamiltonian = vibrating_ion();
  const State initial = schrodinger::gaussian_packet(hamiltonian.grid(), 0.5, 0.5, 1.2);
  for (const Method& method : methods) {
    PropagatorOptions options = options_for(method);
    const State steps = after(world(), hamiltonian, options, initial, 0.6, 12);
    options.substeps = 4;
    const State parts = after(world(), hamiltonian, options, initial, 0.6, 3);
    EXPECT_LT(distance(hamiltonian.grid(), steps, parts), 1e-13) << method.name();
  }
}

TEST(Propagators, SeveralStatesAreEachAlone) {
  const Hamiltonian hamiltonian = vibrating_ion();
  const Grid& grid = hamiltonian.grid();
  for (const Method& method : methods) {
    const double step = 0.0625;
    const auto propagator = impl::make_propagator(world(), hamiltonian, step, options_for(method));
    std::vector<State> initial;
    std::vector<impl::WaveFunction> states;
    schrodinger::SimulationTimes times;
    for (int k = 0; k < 3; ++k) {
      initial.push_back(schrodinger::gaussian_packet(grid, k - 1.0, 0.3 * k, 1.0));
      states.emplace_back(world(), grid.points).assign(initial.back());
    }
    for (int k = 0; k < 3; ++k) propagator->advance(step * (k + 0.5), states, times);
    for (int k = 0; k < 3; ++k) {
      EXPECT_TRUE(states[k].host() == after(world(), hamiltonian, options_for(method), initial[k], 3 * step, 3))
          << method.name();
    }
  }
}

TEST(Propagators, SameBitsOnAnyNumberOfRanks) {
  const Communicator alone(MPI_COMM_SELF);
  const Hamiltonian hamiltonian = vibrating_ion();
  const State initial = schrodinger::gaussian_packet(hamiltonian.grid(), -0.4, 0.3, 0.9);
  for (const Method& method : methods) {
    EXPECT_TRUE(after(world(), hamiltonian, options_for(method), initial, 0.1, 4) ==
                after(alone, hamiltonian, options_for(method), initial, 0.1, 4))
        << method.name();
  }
}

// The choice of automatic for a tolerance, and the state after `steps` with it.
std::pair<schrodinger::PropagatorChoice, State> automatic(const Communicator& comm, const Hamiltonian& hamiltonian,
                                                          double tolerance, const State& initial, double step,
                                                          Index steps) {
  PropagatorOptions options;
  options.kind = PropagatorKind::automatic;
  options.tolerance = tolerance;
  options.duration = step * static_cast<double>(steps);
  const auto propagator = impl::make_propagator(comm, hamiltonian, step, options);
  EXPECT_EQ(propagator->description(), "automatic");
  std::vector<impl::WaveFunction> states;
  states.emplace_back(comm, hamiltonian.grid().points).assign(initial);
  schrodinger::SimulationTimes times;
  for (Index k = 0; k < steps; ++k) propagator->advance(step * (static_cast<double>(k) + 0.5), states, times);
  EXPECT_NE(propagator->kind(), PropagatorKind::automatic);
  EXPECT_NE(propagator->description().find(to_string(propagator->kind())), std::string::npos);
  EXPECT_FALSE(propagator->choice().reason.empty());
  return {propagator->choice(), states.front().host()};
}

TEST(Propagators, AutomaticReachesTheTolerance) {
  const Hamiltonian hamiltonian = stretched_ion();
  const State initial = schrodinger::eigenstate(hamiltonian, 0);
  const double step = 0.004;
  const Index steps = 32;
  const State converged =
      after(world(), hamiltonian, options_for({PropagatorKind::chebyshev, 4}), initial, step * steps, 1024);
  const Communicator alone(MPI_COMM_SELF);
  for (const double tolerance : {1e-1, 1e-3, 1e-6, 1e-9}) {
    const auto [choice, state] = automatic(world(), hamiltonian, tolerance, initial, step, steps);
    const double rate = distance(hamiltonian.grid(), state, converged) / (step * steps);
    EXPECT_LT(rate, 2 * tolerance) << to_string(choice);
    // Not more than necessary: a step twice as long would not suffice.
    if (choice.substeps > 1) {
      EXPECT_GT(rate, 1e-3 * tolerance) << to_string(choice);
    }
    EXPECT_TRUE(state == automatic(alone, hamiltonian, tolerance, initial, step, steps).second);
    PropagatorOptions again = options_for({choice.kind, choice.order});
    again.substeps = choice.substeps;
    again.tolerance = choice.tolerance;
    const auto repeated = impl::make_propagator(world(), hamiltonian, step, again);
    std::vector<impl::WaveFunction> states;
    states.emplace_back(world(), hamiltonian.grid().points).assign(initial);
    schrodinger::SimulationTimes times;
    for (Index k = 0; k < steps; ++k) repeated->advance(step * (static_cast<double>(k) + 0.5), states, times);
    EXPECT_TRUE(state == states.front().host()) << to_string(choice);
  }
}

TEST(Propagators, AutomaticTakesOneExponentialOfWhatRests) {
  const Hamiltonian hamiltonian({-10, 10, 401, Kinetic::fd4}, soft_core(2, 0.5));
  const State initial = schrodinger::gaussian_packet(hamiltonian.grid(), -1.0, 1.0, 1.0);
  const auto [choice, state] = automatic(world(), hamiltonian, 1e-10, initial, 0.05, 2);
  EXPECT_EQ(choice.kind, PropagatorKind::chebyshev) << to_string(choice);
  EXPECT_EQ(choice.substeps, 1);
  EXPECT_LT(distance(hamiltonian.grid(), state, after(world(), hamiltonian, {}, initial, 0.1, 1)), 1e-11);
}

// A pulse that begins later is taken into account.
TEST(Propagators, AutomaticLooksAhead) {
  Pulse pulse;
  pulse.amplitude = 0.5;
  pulse.omega = 2.0;
  pulse.duration = 4.0;
  pulse.centre = 3.0;
  const Hamiltonian hamiltonian({-8, 8, 65, Kinetic::fd4}, soft_core(1, 1), {}, {pulse});
  const State initial = schrodinger::eigenstate(hamiltonian, 0);
  const double step = 0.25;
  const Index steps = 20;
  const auto [choice, state] = automatic(world(), hamiltonian, 1e-7, initial, step, steps);
  const State converged =
      after(world(), hamiltonian, options_for({PropagatorKind::chebyshev, 4}), initial, step * steps, 2000);
  EXPECT_LT(distance(hamiltonian.grid(), state, converged), 3 * 1e-7 * step * steps) << to_string(choice);
}

TEST(Propagators, AutomaticEndsWhereNothingWillDo) {
  const Hamiltonian hamiltonian = vibrating_ion();
  SimulationOptions options = options_of(1e9, PropagatorKind::automatic);
  options.propagator.tolerance = 1e-15;
  options.states = 0;
  Simulation simulation(world(), hamiltonian, options, schrodinger::gaussian_packet(hamiltonian.grid(), 0, 0, 1));
  test::expect_refusal(ErrorKind::argument, "propagator automatic: no method reaches an error of",
                       [&] { simulation.step(); });
}

TEST(Propagators, NamesAndDescriptions) {
  for (const Method& method : methods) {
    EXPECT_EQ(schrodinger::propagator_kind_from(to_string(method.kind)), method.kind);
    const auto propagator = impl::make_propagator(world(), vibrating_ion(), 0.05, options_for(method));
    EXPECT_EQ(propagator->kind(), method.kind);
    EXPECT_EQ(propagator->choice().order, method.order);
    EXPECT_EQ(propagator->description(), message_of(to_string(method.kind), ", order ", method.order));
  }
  EXPECT_EQ(schrodinger::propagator_kind_from("auto"), PropagatorKind::automatic);
  test::expect_refusal(ErrorKind::argument, "propagator 'euler': expected one of automatic, expm, magnus4,",
                       [&] { (void)schrodinger::propagator_kind_from("euler"); });
}

TEST(Propagators, RefuseWhatTheyAreNot) {
  const auto made = [&](const PropagatorOptions& options) {
    return impl::make_propagator(world(), vibrating_ion(), 0.05, options);
  };
  for (const Method& wrong : {Method{PropagatorKind::expm, 4}, Method{PropagatorKind::magnus4, 2},
                              Method{PropagatorKind::crank_nicolson, 4}, Method{PropagatorKind::split_operator, 3},
                              Method{PropagatorKind::chebyshev, -2}, Method{PropagatorKind::automatic, 1}}) {
    SCOPED_TRACE(::testing::Message() << wrong.name());
    test::expect_refusal(ErrorKind::argument, "has no order", [&] { made(options_for(wrong)); });
  }
  if (!impl::has_fourier()) {
    test::expect_refusal(ErrorKind::argument, "needs a Fourier transform", [&] {
      made(options_for({PropagatorKind::split_operator, 2}));
    });
  }
  PropagatorOptions options;
  options.substeps = 0;
  test::expect_refusal(ErrorKind::argument, "propagator.substeps = 0 must be at least 1", [&] { made(options); });
  options = {};
  options.degree = -1;
  test::expect_refusal(ErrorKind::argument, "propagator.degree = -1 must not be negative", [&] { made(options); });
  options = {};
  options.tile = -1;
  test::expect_refusal(ErrorKind::argument, "tile = -1 must not be negative", [&] { made(options); });
  for (const auto kind : {PropagatorKind::automatic, PropagatorKind::crank_nicolson, PropagatorKind::split_operator,
                          PropagatorKind::chebyshev}) {
    options = {};
    options.kind = kind;
    options.degree = 10;
    SCOPED_TRACE(::testing::Message() << to_string(kind));
    test::expect_refusal(ErrorKind::argument, "propagator.degree = 10: propagator", [&] { made(options); });
  }
  options = {};
  options.duration = std::numeric_limits<double>::infinity();
  test::expect_refusal(ErrorKind::argument, "propagator duration = inf must be finite and not negative",
                       [&] { made(options); });
  for (const double tolerance : {-1e-3, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    options = {};
    options.kind = PropagatorKind::chebyshev;
    options.tolerance = tolerance;
    SCOPED_TRACE(::testing::Message() << tolerance);
    test::expect_refusal(ErrorKind::argument, "propagator.tolerance =", [&] { made(options); });
  }
}

}  // namespace
}  // namespace heddle::test::propagators_test
