// The grid, the kinetic operators, the potentials and the matrix of the Hamiltonian.
#include "problems.hpp"
#include "support/errors.hpp"
#include <heddle/core/error.hpp>
#include <heddle/dist/matrix.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace heddle::test::hamiltonian_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// T exp(i k x) = symbol(k) exp(i k x) on an infinite grid.
double symbol(const Grid& grid, double k) {
  const auto band = schrodinger::kinetic_band(grid);
  double sum = band[0];
  for (std::size_t d = 1; d < band.size(); ++d)
    sum += 2 * band[d] * std::cos(k * grid.spacing() * static_cast<double>(d));
  return sum;
}

TEST(Grid, EndsAreExact) {
  const Grid grid{-10.0, 10.1, 68, Kinetic::fd2};
  EXPECT_EQ(grid.x(0), -10.0);
  EXPECT_EQ(grid.x(67), 10.1);
  EXPECT_NEAR(grid.spacing(), 0.3, 1e-15);
  EXPECT_EQ(grid.positions().size(), 68U);
}

TEST(Grid, RefusesWhatIsNoGrid) {
  test::expect_refusal(ErrorKind::argument, "grid.xmin = 0 must be less than grid.xmax = 0", [&] {
    validate(Grid{0, 0, 11, Kinetic::fd2});
  });
  test::expect_refusal(ErrorKind::argument, "grid.xmin = 1 must be less than grid.xmax = -1", [&] {
    validate(Grid{1, -1, 11, Kinetic::fd2});
  });
  test::expect_refusal(ErrorKind::argument, "grid.points = 2 must be at least 3", [&] {
    validate(Grid{-1, 1, 2, Kinetic::fd2});
  });
  test::expect_refusal(ErrorKind::argument, "grid.xmin = nan and grid.xmax = 1 must be finite", [&] {
    validate(Grid{nan, 1, 11, Kinetic::fd2});
  });
  test::expect_refusal(ErrorKind::argument, "grid.xmin = -1 and grid.xmax = inf must be finite", [&] {
    validate(Grid{-1, infinity, 11, Kinetic::fd2});
  });
  test::expect_refusal(ErrorKind::argument, "grid: 100 points from 1 to 1.0000000000000011 can't be told", [&] {
    validate(Grid{1, 1 + 1e-15, 100, Kinetic::fd2});
  });
  test::expect_refusal(ErrorKind::argument, "grid.points = -5 must be at least 3", [&] {
    static_cast<void>(Grid{-1, 1, -5, Kinetic::fd2}.positions());
  });
  test::expect_refusal(ErrorKind::argument, "grid.points = -5 must be at least 3", [&] {
    static_cast<void>(potential_energy(Grid{-1, 1, -5, Kinetic::fd2}, {}, {}, 0.0));
  });
}

TEST(Kinetic, NamesGoBothWays) {
  for (const auto kinetic : {Kinetic::fd2, Kinetic::fd4, Kinetic::fd6, Kinetic::sinc}) {
    EXPECT_EQ(schrodinger::kinetic_from(to_string(kinetic)), kinetic);
  }
  test::expect_refusal(ErrorKind::argument, "kinetic operator 'fd8': expected one of fd2, fd4, fd6, sinc",
                       [&] { (void)schrodinger::kinetic_from("fd8"); });
}

// The error of order p decreases by 2^p when dx is halved.
TEST(Kinetic, DifferencesHaveTheirOrder) {
  const double k = 1.3;
  for (const auto& [kinetic, order] :
       {std::pair(Kinetic::fd2, 2), std::pair(Kinetic::fd4, 4), std::pair(Kinetic::fd6, 6)}) {
    const double coarse = symbol({0, 10, 51, kinetic}, k) - k * k / 2;
    const double fine = symbol({0, 10, 101, kinetic}, k) - k * k / 2;
    EXPECT_NEAR(coarse / fine, std::pow(2, order), 0.05 * std::pow(2, order)) << to_string(kinetic);
  }
}

// The sinc sum converges to k^2/2 for any k below pi/dx, its tail like 1/n.
TEST(Kinetic, SincHasAllOrders) {
  const double k = 2.0;
  EXPECT_NEAR(symbol({0, 2000, 4001, Kinetic::sinc}, k), k * k / 2, 1e-5);
}

TEST(Kinetic, IsPositiveInEveryWave) {
  for (const auto kinetic : {Kinetic::fd2, Kinetic::fd4, Kinetic::fd6}) {
    const Grid grid{0, 10, 101, kinetic};
    for (double k = 0.05; k < 31.4; k += 0.1) EXPECT_GT(symbol(grid, k), 0.0);
  }
}

TEST(Nuclei, MoveAsTheDeckSays) {
  Nuclei nuclei;
  nuclei.separation = 2.0;
  nuclei.amplitude = 0.5;
  nuclei.omega = 3.0;
  nuclei.velocity = 0.7;
  const double t = 0.4;
  const double shift = 0.5 * std::sin(1.2);
  EXPECT_EQ(nuclei.positions(t), (std::array{-1.0, 1.0}));
  nuclei.motion = Motion::stretch;
  EXPECT_EQ(nuclei.positions(t), (std::array{-(1.0 + shift), 1.0 + shift}));
  nuclei.motion = Motion::shake;
  EXPECT_EQ(nuclei.positions(t), (std::array{-1.0 + shift, 1.0 + shift}));
  nuclei.motion = Motion::drift;
  EXPECT_EQ(nuclei.positions(t), (std::array{-1.0 + 0.7 * t, 1.0 + 0.7 * t}));
}

TEST(Potential, SoftCoreIsTheSumOfBothNuclei) {
  const Grid grid{-4, 4, 9, Kinetic::fd2};
  const auto values = potential_energy(grid, soft_core(30, 0.1), moving(Motion::drift), 1.0);
  for (Index i = 0; i < grid.points; ++i) {
    const double x = grid.x(i);
    EXPECT_DOUBLE_EQ(values[i], -30 / std::sqrt(x * x + 0.1) - 30 / std::sqrt((x - 2) * (x - 2) + 0.1));
  }
}

TEST(Potential, TableIsInterpolatedLinearly) {
  Potential potential;
  potential.kind = PotentialKind::table;
  potential.table_x = {-1.0, 0.0, 2.0};
  potential.table_v = {3.0, 1.0, 5.0};
  const Grid grid{-1.0, 2.0, 7, Kinetic::fd2};
  const auto values = potential_energy(grid, potential, {}, 0.0);
  const std::vector<double> expected = {3.0, 2.0, 1.0, 2.0, 3.0, 4.0, 5.0};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_DOUBLE_EQ(values[i], expected[i]);
}

TEST(Potential, RefusesWhatCannotBe) {
  const Grid grid{-1, 1, 11, Kinetic::fd2};
  test::expect_refusal(ErrorKind::argument, "potential.charge = nan must be finite",
                       [&] { validate(grid, soft_core(nan, 1), {}); });
  test::expect_refusal(ErrorKind::argument, "potential.softening = 0 must be positive",
                       [&] { validate(grid, soft_core(1, 0), {}); });
  test::expect_refusal(ErrorKind::argument, "potential.softening = -1 must be positive",
                       [&] { validate(grid, soft_core(1, -1), {}); });
  test::expect_refusal(ErrorKind::argument, "potential.omega = inf must be finite",
                       [&] { validate(grid, harmonic(infinity), {}); });
  test::expect_refusal(ErrorKind::argument, "nuclei.motion = drift needs potential.kind = soft-core: a",
                       [&] { validate(grid, harmonic(1), moving(Motion::drift)); });
  Nuclei apart;
  apart.separation = -1;
  test::expect_refusal(ErrorKind::argument, "nuclei.separation = -1 must not be negative",
                       [&] { validate(grid, soft_core(1, 1), apart); });
  Potential table;
  table.kind = PotentialKind::table;
  test::expect_refusal(ErrorKind::argument, "potential table: 0 positions and 0 values; expected as many of",
                       [&] { validate(grid, table, {}); });
  test::expect_refusal(ErrorKind::argument, "potential table: 0 positions and 0 values; expected as many of",
                       [&] { static_cast<void>(potential_energy(grid, table, {}, 0.0)); });
  table.table_x = {-1, 0.5};
  table.table_v = {0, 0};
  SCOPED_TRACE(::testing::Message() << "does not reach the right end");
  test::expect_refusal(ErrorKind::argument, "potential table: it reaches from x = -1 to 0.5 and does not",
                       [&] { validate(grid, table, {}); });
  table.table_x = {1, -1};
  SCOPED_TRACE(::testing::Message() << "falls");
  test::expect_refusal(ErrorKind::argument, "potential table, point 2: x = -1 must be greater than 1 before",
                       [&] { validate(grid, table, {}); });
  table.table_x = {-1, 1};
  EXPECT_NO_THROW(validate(grid, table, {}));
}

// The message of the error thrown by the Hamiltonian's constructor.
std::string refusal(const Grid& grid, const Potential& potential, const std::vector<schrodinger::Pulse>& pulses = {}) {
  try {
    const Hamiltonian hamiltonian(grid, potential, {}, pulses);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Potential, RefusesEnergiesThatAreNotFinite) {
  const Grid grid{-10, 10, 11, Kinetic::fd2};
  EXPECT_EQ(refusal(grid, harmonic(1e200)), "potential.omega: V = inf at point 1, x = -10; expected a finite energy");
  EXPECT_NE(refusal({0, 10, 11, Kinetic::fd2}, harmonic(1e200)).find("nan at point 1, x = 0"), std::string::npos)
      << "0 times infinity";
  EXPECT_NE(refusal(grid, soft_core(1e308, 1e-300)).find("potential.charge: V = -inf at point "), std::string::npos);
  EXPECT_NE(refusal({0, 1e-200, 11, Kinetic::fd2}, harmonic(1)).find("t_0 = inf"), std::string::npos);
  schrodinger::Pulse pulse;
  pulse.amplitude = 1e308;
  pulse.omega = 1.0;
  pulse.duration = 1.0;
  EXPECT_EQ(refusal(grid, harmonic(1), {pulse}).substr(0, 31), "pulse.amplitude: V = inf at poi");
  EXPECT_EQ(refusal(grid, harmonic(1e100)), "");
}

// The matrix filled on the device, the product on the host, and the definition agree.
TEST(HamiltonianMatrix, AgreesWithItsProduct) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const auto kinetic : {Kinetic::fd2, Kinetic::fd4, Kinetic::fd6, Kinetic::sinc}) {
    for (const Index n : {3, 4, 29}) {
      const Hamiltonian hamiltonian({-2, 3, n, kinetic}, soft_core(2, 0.5), moving(Motion::shake));
      const DistributedMatrix<double> matrix(comm, Placement::row_bands(n, n, comm.size()));
      hamiltonian.fill(-0.25, 0.3, matrix);
      const auto whole = gather(matrix, 0);
      const auto potential = hamiltonian.potential_at(0.3);
      for (Index j = 0; j < n; ++j) {
        std::vector<double> unit(n, 0.0);
        std::vector<double> column(n);
        unit[j] = 1.0;
        hamiltonian.apply(potential, unit, column);
        for (Index i = 0; i < n; ++i) {
          EXPECT_DOUBLE_EQ(whole(i, j), -0.25 * column[i]);
          EXPECT_EQ(whole(i, j), whole(j, i));
        }
      }
    }
  }
  const Hamiltonian hamiltonian({-2, 3, 8, Kinetic::fd2}, harmonic(1));
  test::expect_refusal(ErrorKind::argument, "Hamiltonian of 8 points: the matrix is 8 x 9",
                       [&] { hamiltonian.fill(1, 0, DistributedMatrix<double>(comm, Placement::on_rank(8, 9, 0))); });
}

}  // namespace
}  // namespace heddle::test::hamiltonian_test
