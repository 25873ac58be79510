// States by imaginary time against those of lowest_eigenstates().
#include "problems.hpp"
#include "support/errors.hpp"
#include <heddle/core/error.hpp>
#include <heddle/schrodinger/imaginary_time.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace heddle::test::imaginary_time_test {
namespace {

using schrodinger::imaginary_time_states;
using schrodinger::ImaginaryTimeOptions;
using schrodinger::ImaginaryTimeReport;

void expect_lowest(const Hamiltonian& hamiltonian, double time, Index count) {
  ImaginaryTimeReport report;
  const auto found = imaginary_time_states(world(), hamiltonian, time, count, {}, &report);
  const auto expected = schrodinger::lowest_eigenstates(hamiltonian, time, count);
  ASSERT_EQ(found.energies.size(), static_cast<std::size_t>(count));
  EXPECT_LE(report.residual, 1e-8);
  // A block of all vectors contains the states at once.
  EXPECT_EQ(report.time > 0.0, count + 2 < found.points);
  for (Index k = 0; k < count; ++k) {
    EXPECT_NEAR(found.energies[k], expected.energies[k], 1e-10) << k;
    double sum = 0.0;
    for (Index i = 0; i < found.points; ++i) sum += std::pow(found.state(k)[i] - expected.state(k)[i], 2);
    EXPECT_LT(std::sqrt(sum * hamiltonian.grid().spacing()), 1e-6) << k << ", sign included";
  }
}

TEST(ImaginaryTime, FindsTheLowestEigenstates) {
  expect_lowest({{-10, 10, 101, Kinetic::sinc}, harmonic(1)}, 0.0, 1);
  expect_lowest({{-10, 10, 101, Kinetic::fd4}, harmonic(0.6)}, 0.0, 5);
  expect_lowest({{-15, 15, 151, Kinetic::fd2}, soft_core(1, 1)}, 0.0, 3);
  expect_lowest({{-2, 2, 9, Kinetic::fd6}, harmonic(1)}, 0.0, 9);
  expect_lowest({{-2, 2, 3, Kinetic::fd2}, harmonic(1)}, 0.0, 2);
}

TEST(ImaginaryTime, FindsADeepWellAtItsTime) {
  // Levels tens of hartree apart and far below the initial waves.
  expect_lowest({{-10, 10, 201, Kinetic::fd2}, soft_core(30, 0.1), moving(Motion::stretch)}, 0.3, 2);
}

TEST(ImaginaryTime, SaysWhenItHasNotConverged) {
  const Hamiltonian hamiltonian({-10, 10, 101, Kinetic::fd4}, harmonic(1));
  ImaginaryTimeOptions options;
  options.most_steps = 2;
  test::expect_refusal(ErrorKind::computation, "imaginary time: residual",
                       [&] { (void)imaginary_time_states(world(), hamiltonian, 0.0, 1, options); });
  options.most_steps = 0;
  test::expect_refusal(ErrorKind::argument, "imaginary time: most_steps = 0 must be positive",
                       [&] { (void)imaginary_time_states(world(), hamiltonian, 0.0, 1, options); });
  options = {};
  options.tolerance = 0.0;
  test::expect_refusal(ErrorKind::argument, "imaginary time: tolerance = 0 must be finite and positive",
                       [&] { (void)imaginary_time_states(world(), hamiltonian, 0.0, 1, options); });
  options = {};
  options.tile = -8;
  test::expect_refusal(ErrorKind::argument, "imaginary time: tile = -8 must not be negative",
                       [&] { (void)imaginary_time_states(world(), hamiltonian, 0.0, 1, options); });
  test::expect_refusal(ErrorKind::argument, "0 states by imaginary time on 101 points: expected 1 to 101",
                       [&] { (void)imaginary_time_states(world(), hamiltonian, 0.0, 0); });
  test::expect_refusal(ErrorKind::argument, "102 states by imaginary time on 101 points: expected 1 to 101",
                       [&] { (void)imaginary_time_states(world(), hamiltonian, 0.0, 102); });
  const Hamiltonian ion({-10, 10, 101, Kinetic::fd2}, soft_core(1, 1), moving(Motion::stretch));
  test::expect_refusal(ErrorKind::argument, "the potential is not finite there",
                       [&] { (void)imaginary_time_states(world(), ion, std::numeric_limits<double>::quiet_NaN(), 1); });
}

TEST(ImaginaryTime, EmulatedProductsHaveTheSameBitsForAnyTileAndRanks) {
  const Communicator alone(MPI_COMM_SELF);
  const Hamiltonian hamiltonian({-10, 10, 101, Kinetic::fd4}, soft_core(1, 1));
  ImaginaryTimeOptions options;
  options.arithmetic = Arithmetic::emulated;
  const auto together = imaginary_time_states(world(), hamiltonian, 0.0, 2, options);
  options.tile = 24;
  const auto single = imaginary_time_states(alone, hamiltonian, 0.0, 2, options);
  EXPECT_EQ(together.energies, single.energies);
  EXPECT_EQ(together.values, single.values);
  const auto native = imaginary_time_states(alone, hamiltonian, 0.0, 2);
  EXPECT_NEAR(single.energies[1], native.energies[1], 1e-12);
}

TEST(ImaginaryTime, SameBitsOnAnyNumberOfRanks) {
  const Communicator alone(MPI_COMM_SELF);
  const Hamiltonian hamiltonian({-10, 10, 101, Kinetic::fd4}, soft_core(1, 1));
  const auto together = imaginary_time_states(world(), hamiltonian, 0.0, 2);
  const auto single = imaginary_time_states(alone, hamiltonian, 0.0, 2);
  EXPECT_EQ(together.energies, single.energies);
  EXPECT_EQ(together.values, single.values);
}

}  // namespace
}  // namespace heddle::test::imaginary_time_test
