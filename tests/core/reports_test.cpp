// Tests of the reports' text.
#include <heddle/eigen/generalised.hpp>
#include <heddle/emulation/emulation.hpp>
#include <heddle/expm/expm.hpp>
#include <heddle/gemm/gemm.hpp>
#include <heddle/search/faces.hpp>
#include <heddle/solve/qr.hpp>
#include <heddle/solve/solve.hpp>

#include <gtest/gtest.h>

#include <iomanip>
#include <limits>
#include <sstream>
#include <string>

namespace heddle::reports_test {
namespace {

template <class Report> std::string text_of(const Report& report) {
  std::ostringstream out;
  out << report;
  return out.str();
}

TEST(Reports, NumbersComeBackFromTheirText) {
  EmulationReport report;
  report.error_bound = 0.1;
  report.spread = 1e300 / 3;
  const std::string text = text_of(report);
  EXPECT_EQ(text, "EmulationReport(moduli=0, error_bound=0.1, spread=3.3333333333333335e+299, fallback=none)");
  report.error_bound = -std::numeric_limits<double>::infinity();
  report.spread = std::numeric_limits<double>::quiet_NaN();
  report.fallback = Fallback::native;
  EXPECT_EQ(text_of(report), "EmulationReport(moduli=0, error_bound=-inf, spread=nan, fallback=native)");
}

TEST(Reports, AreWhatTheyAreWhateverTheStreamIsSetTo) {
  std::ostringstream out;
  EmulationReport report;
  report.error_bound = 1.0 / 3;
  out << std::setprecision(2) << std::hex << std::setw(100) << std::left << report << '|';
  EXPECT_EQ(out.str().size(), 101u);
  EXPECT_EQ(out.str().find("error_bound=0.3333333333333333,"), text_of(report).find("error_bound=0.3333333333333333,"));
}

TEST(Reports, VectorsAreCutAndReportsNest) {
  LeastSquaresReport report;
  report.residual_norms = {0.5, 1, 2, 3, 4, 5, 6};
  const std::string text = text_of(report);
  EXPECT_NE(text.find("qr=FactorizationReport(info=0, "), std::string::npos) << text;
  EXPECT_NE(text.find("residual_norms=[0.5, 1, 2, 3, 4, 5, ... of 7], condition=nan, correctly_rounded=false, "),
            std::string::npos)
      << text;
  QrReport<Kokkos::complex<float>> factors;
  factors.tau = {{1.5f, -2.f}};
  EXPECT_NE(text_of(factors).find("tau=[(1.5,-2)])"), std::string::npos) << text_of(factors);
}

TEST(Reports, NamesAreThoseOfTheEnumerators) {
  EXPECT_EQ(text_of(GemmReport()).find("GemmReport(products=0, tile=0, grid=0 x 0, layers=0, "), 0u)
      << text_of(GemmReport());
  EXPECT_NE(text_of(GemmReport()).find("predicted_seconds=none"), std::string::npos);
  EXPECT_EQ(text_of(ExpmReport()).find("ExpmReport(method=automatic, structure=general, "), 0u)
      << text_of(ExpmReport());
  search::ExternalFacesReport faces;
  faces.search.phases.push_back({"keys", 0.25});
  EXPECT_NE(text_of(faces).find("algorithm=automatic"), std::string::npos) << text_of(faces);
  EXPECT_NE(text_of(faces).find("phases=[keys 0.25 s])"), std::string::npos) << text_of(faces);
  eigen::JacobiGeneralisedReport pencil;
  pencil.off_norms = {1, 0.5};
  EXPECT_EQ(text_of(pencil).find("JacobiGeneralisedReport(converged=true, end=diagonal, "), 0u) << text_of(pencil);
  EXPECT_NE(text_of(pencil).find("off_norms=[1, 0.5]"), std::string::npos) << text_of(pencil);
  EXPECT_EQ(text_of(SolveReport()).find("SolveReport(factorization=LuReport(info=0, "), 0u) << text_of(SolveReport());
}

}  // namespace
}  // namespace heddle::reports_test
