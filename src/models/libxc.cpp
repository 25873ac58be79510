// Functionals that libxc evaluates, and stubs for builds without it.
#include "models/libxc.hpp"

#include <heddle/core/error.hpp>

#ifdef HEDDLE_LIBXC
#include <xc.h>

#include <algorithm>
#include <array>
#endif

namespace heddle::impl {

#ifdef HEDDLE_LIBXC

struct LibxcFunctional::Handle {
  explicit Handle(int number) : made(xc_func_init(&functional, number, XC_POLARIZED) == 0) {}
  ~Handle() {
    if (made) xc_func_end(&functional);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  xc_func_type functional{};
  bool made;
};

namespace {

bool is_hybrid(int family) {
  return family == XC_FAMILY_HYB_LDA || family == XC_FAMILY_HYB_GGA;
}
bool is_local(int family) {
  return family == XC_FAMILY_LDA || family == XC_FAMILY_HYB_LDA;
}

// Reason to refuse a functional, or nullptr.
const char* refusal_of(const xc_func_info_type& info) {
  if (info.kind == XC_KINETIC) return "is one of kinetic energy";
  if ((info.flags & XC_FLAGS_3D) == 0) return "is not for three dimensions";
  if ((info.flags & XC_FLAGS_VV10) != 0) return "has a correlation of pairs of points";
  constexpr int both = XC_FLAGS_HAVE_EXC | XC_FLAGS_HAVE_VXC;
  if ((info.flags & both) != both) return "gives no energy, or no potential";
  if (is_hybrid(info.family) || info.family == XC_FAMILY_LDA || info.family == XC_FAMILY_GGA) return nullptr;
  return "is of more than densities and their gradients";
}

}  // namespace

LibxcFunctional::LibxcFunctional(const std::string& name) {
  const int number = xc_functional_get_number(name.c_str());
  require(
      number > 0, "functional: '", name,
      "' is unknown; expected hf, lda-x, lda-pz, lda-pw92, lda-vwn, pbe, pbesol, blyp, pbe0, b3lyp, or names of libxc ",
      "joined by +");
  const auto handle = std::make_shared<Handle>(number);
  require(handle->made, "functional: libxc does not have ", name);
  const xc_func_info_type& info = *handle->functional.info;
  const char* const refusal = refusal_of(info);
  require(refusal == nullptr, "functional: ", name, " ", refusal == nullptr ? "" : refusal);
  is_correlation_ = info.kind == XC_CORRELATION;
  of_gradients_ = !is_local(info.family);
  if (is_hybrid(info.family)) {
    double range = 0;
    double nearby = 0;
    xc_hyb_cam_coef(&handle->functional, &range, &orbital_exchange_, &nearby);
    require(nearby == 0, "functional: ", name, " has an exchange of orbitals that depends on their distance");
  }
  handle_ = handle;
}

void LibxcFunctional::add_to(std::span<const models::SpinDensities> densities,
                             std::span<models::FunctionalTerms> terms) const {
  constexpr std::size_t most = 128;
  std::array<double, 2 * most> n{};
  std::array<double, 3 * most> products{};
  std::array<double, most> energy{};
  std::array<double, 2 * most> by_n{};
  std::array<double, 3 * most> by_products{};
  for (std::size_t begin = 0; begin < densities.size(); begin += most) {
    const std::size_t count = std::min(most, densities.size() - begin);
    for (std::size_t k = 0; k < count; ++k) {
      const models::SpinDensities& one = densities[begin + k];
      n[2 * k] = one.up;
      n[2 * k + 1] = one.down;
      products[3 * k] = one.up_up;
      products[3 * k + 1] = one.up_down;
      products[3 * k + 2] = one.down_down;
    }
    if (of_gradients_) {
      xc_gga_exc_vxc(&handle_->functional, count, n.data(), products.data(), energy.data(), by_n.data(),
                     by_products.data());
    } else {
      xc_lda_exc_vxc(&handle_->functional, count, n.data(), energy.data(), by_n.data());
    }
    for (std::size_t k = 0; k < count; ++k) {
      models::FunctionalTerms& one = terms[begin + k];
      (is_correlation_ ? one.correlation : one.exchange) += (n[2 * k] + n[2 * k + 1]) * energy[k];
      one.up += by_n[2 * k];
      one.down += by_n[2 * k + 1];
      if (!of_gradients_) continue;
      one.by_up_up += by_products[3 * k];
      one.by_up_down += by_products[3 * k + 1];
      one.by_down_down += by_products[3 * k + 2];
    }
  }
}

#else

struct LibxcFunctional::Handle {};

LibxcFunctional::LibxcFunctional(const std::string& name) {
  throw Error(ErrorKind::argument, message_of("functional: ", name, " is libxc's, which this build lacks"));
}

void LibxcFunctional::add_to(std::span<const models::SpinDensities> /*densities*/,
                             std::span<models::FunctionalTerms> /*terms*/) const {}

#endif

}  // namespace heddle::impl
