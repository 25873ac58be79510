// Predicted exponentials for a cluster, against sums by hand and against computed ones.
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include "support/on_host.hpp"
#include <heddle/expm/predict.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace heddle::predict_test {
namespace {

constexpr ClusterShape four_nodes_of_two{4, 2, true};

// ||A^k|| = size^k for every k: the norm alone decides.
struct CyclicShift {
  Index n;
  double size;
  KOKKOS_FUNCTION double operator()(Index i, Index j) const { return (i + 1) % n == j ? size : 0.0; }
};

TEST(PredictExpm, ProductsAreThoseThatAreComputed) {
  const Communicator comm = test::world();
  const Index n = 40;
  const Placement bands = Placement::row_bands(n, n, comm.size());
  const DistributedMatrix<double> A(comm, bands);
  const DistributedMatrix<double> E(comm, bands);
  for (const double size : {1e-3, 0.1, 1.0, 30.0}) {
    fill(A, CyclicShift{n, size});
    for (const ExpmMethod method : {ExpmMethod::automatic, ExpmMethod::paterson_stockmeyer, ExpmMethod::few_products}) {
      ExpmOptions options;
      options.method = method;
      options.structure = ExpmStructure::general;
      const ExpmReport report = expm(comm, A, E, options);
      EXPECT_NEAR(report.alpha, size, 1e-10 * size);
      const ExpmPrediction found =
          predict_expm<double>(four_nodes_of_two, n, size, false, h200_rates<double>(50e9), options);
      EXPECT_EQ(found.products, report.products) << size;
      EXPECT_EQ(found.degree, report.degree) << size;
      EXPECT_EQ(found.squarings, report.squarings) << size;
    }
  }
}

TEST(PredictExpm, TimeAndBytesAreThoseOfProductsAndOfWhatIsBetweenThem) {
  const Index n = 32768;
  const MachineRates rates = h200_rates<double>(50e9);
  const ExpmPrediction found = predict_expm<double>(four_nodes_of_two, n, 10.0, false, rates);
  const double matrix = 8.0 * static_cast<double>(n) * static_cast<double>(n);
  EXPECT_EQ(found.seconds, found.products * found.product.seconds + found.between_seconds);
  // A right factor is in row bands; a rank has an eighth of it, and another rank of its node another eighth.
  EXPECT_EQ(found.bytes_received, found.products * (found.product.bytes_received + matrix * 7 / 8));
  EXPECT_EQ(found.bytes_between_nodes, found.products * (found.product.bytes_between_nodes + matrix * 6 / 8));
  EXPECT_GE(found.between_seconds, found.products * matrix / 8 * 6 / 8 / 50e9);
  EXPECT_LT(found.between_seconds, found.seconds / 2);
  EXPECT_GT(found.memory_bytes, found.product.memory_bytes);
  // Three real products for a complex one, each with the same time.
  const ExpmPrediction of_complex = predict_expm<double>(four_nodes_of_two, n, 10.0, true, rates);
  EXPECT_EQ(of_complex.products, 3 * found.products);
  EXPECT_EQ(of_complex.product.seconds, found.product.seconds);
  EXPECT_GT(of_complex.memory_bytes, found.memory_bytes);
  // Each doubling of the norm is a squaring.
  EXPECT_EQ(predict_expm<double>(four_nodes_of_two, n, 40.0, false, rates).products, found.products + 2);
}

// Device memory held by this process, and its maximum.
struct Held {
  double now = 0.0;
  double most = 0.0;
};
Held held;

TEST(PredictExpm, MemoryIsNearWhatIsTaken) {
  namespace Tools = Kokkos::Tools::Experimental;
  const Communicator comm = test::world();
  if (comm.size() > 1) GTEST_SKIP() << "of one rank";
  const bool on_gpus = !test::on_host;
  // Large enough that the 64 MiB of two lanes of cuBLAS, of which one rank takes one, are small.
  const Index n = on_gpus ? 2048 : 512;
  const Placement bands = Placement::row_bands(n, n, 1);
  for (const double size : {0.5, 20.0}) {
    held = {};
    Tools::set_allocate_data_callback([](Kokkos_Profiling_SpaceHandle, const char*, const void*, std::uint64_t bytes) {
      held.now += static_cast<double>(bytes);
      held.most = std::max(held.most, held.now);
    });
    Tools::set_deallocate_data_callback([](Kokkos_Profiling_SpaceHandle, const char*, const void*,
                                           std::uint64_t bytes) { held.now -= static_cast<double>(bytes); });
    {
      const DistributedMatrix<double> A(comm, bands);
      const DistributedMatrix<double> E(comm, bands);
      fill(A, CyclicShift{n, size});
      ExpmOptions options;
      options.structure = ExpmStructure::general;
      static_cast<void>(expm(comm, A, E, options));
    }
    Tools::set_allocate_data_callback(nullptr);
    Tools::set_deallocate_data_callback(nullptr);
    const double predicted =
        predict_expm<double>({1, 1, on_gpus}, n, size, false, h200_rates<double>(50e9)).memory_bytes;
    EXPECT_GE(predicted, 0.9 * held.most);
    EXPECT_LE(predicted, 1.3 * held.most);
  }
}

TEST(PredictExpm, RefusesWhatHasNoPrediction) {
  const MachineRates rates = h200_rates<double>(50e9);
  for (const double norm : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    test::expect_refusal(ErrorKind::argument, "expected a finite number >= 0",
                         [&] { static_cast<void>(predict_expm<double>(four_nodes_of_two, 100, norm, false, rates)); });
  }
  for (const ExpmMethod method : {ExpmMethod::taylor, ExpmMethod::pade, ExpmMethod::chebyshev}) {
    ExpmOptions options;
    options.method = method;
    test::expect_refusal(ErrorKind::argument, "expected automatic, paterson-stockmeyer or few-products", [&] {
      static_cast<void>(predict_expm<double>(four_nodes_of_two, 100, 1.0, false, rates, options));
    });
  }
  const auto refused = [&](const ExpmOptions& options, const char* part) {
    test::expect_refusal(ErrorKind::argument, part, [&] {
      static_cast<void>(predict_expm<double>(four_nodes_of_two, 100, 1.0, true, rates, options));
    });
  };
  refused({.tolerance = -1.0}, "predict_expm: tolerance -1; expected at least 0");
  refused({.tolerance = std::numeric_limits<double>::quiet_NaN()}, "predict_expm: tolerance nan; expected at least 0");
  refused({.complex_products = 7}, "predict_expm: complex_products 7; expected 3 or 4");
  refused({.gemm = {.layers = 2}}, "predict_expm: gemm.layers 2; products of an exponential have 1");
  test::expect_refusal(ErrorKind::argument, "expected at least one rank", [&] {
    static_cast<void>(predict_expm<double>({0, 2, true}, 100, 1.0, false, rates));
  });
}

}  // namespace
}  // namespace heddle::predict_test
