// Exchange-correlation functionals by name, evaluated by this library or by libxc.
#include "models/libxc.hpp"
#include <heddle/core/error.hpp>
#include <heddle/models/exchange_correlation.hpp>

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace heddle::models {

namespace {

constexpr std::array own_functionals = {Functional::hf,       Functional::lda_x,   Functional::lda_pz,
                                        Functional::lda_pw92, Functional::lda_vwn, Functional::lda_csc};

// Usual names of sums of libxc functionals.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> usual_names = {{
    {"pbe", "gga_x_pbe+gga_c_pbe"},
    {"pbesol", "gga_x_pbe_sol+gga_c_pbe_sol"},
    {"blyp", "gga_x_b88+gga_c_lyp"},
    {"pbe0", "hyb_gga_xc_pbeh"},
    {"b3lyp", "hyb_gga_xc_b3lyp"},
}};

std::string_view libxc_names(std::string_view name) {
  for (const auto& [usual, names] : usual_names) {
    if (usual == name) return names;
  }
  return name;
}

std::optional<Functional> own_by_name(std::string_view name) {
  for (const Functional functional : own_functionals) {
    if (to_string(functional) == name) return functional;
  }
  return {};
}

}  // namespace

struct ExchangeCorrelation::Libxc {
  std::vector<impl::LibxcFunctional> terms;
};

ExchangeCorrelation::ExchangeCorrelation(Functional functional)
    : name_(to_string(functional)), own_(functional), orbital_exchange_(functional == Functional::hf ? 1 : 0) {
  require(functional != Functional::lda_csc, "functional: lda-csc is for one dimension");
}

ExchangeCorrelation::ExchangeCorrelation(std::string_view name) : name_(name), own_(own_by_name(name)) {
  if (own_) {
    *this = ExchangeCorrelation(*own_);
    return;
  }
  require(has_libxc(), "functional: '", name,
          "'; expected hf, lda-x, lda-pz, lda-pw92 or lda-vwn: others come from libxc, which this build lacks (Debian: "
          "libxc-dev)");
  auto libxc = std::make_shared<Libxc>();
  std::string_view left = libxc_names(name);
  while (true) {
    const std::size_t end = left.find('+');
    const impl::LibxcFunctional& added = libxc->terms.emplace_back(std::string(left.substr(0, end)));
    orbital_exchange_ += added.orbital_exchange();
    of_gradients_ = of_gradients_ || added.of_gradients();
    if (end == std::string_view::npos) break;
    left.remove_prefix(end + 1);
  }
  libxc_ = std::move(libxc);
}

bool ExchangeCorrelation::has_libxc() noexcept {
  return impl::LibxcFunctional::available;
}

void ExchangeCorrelation::evaluate(std::span<const SpinDensities> densities, std::span<FunctionalTerms> terms) const {
  require(densities.size() == terms.size(), "functional: ", densities.size(), " densities and room for ", terms.size());
  if (libxc_) {
    for (FunctionalTerms& one : terms) one = {};
    for (const impl::LibxcFunctional& one : libxc_->terms) one.add_to(densities, terms);
    return;
  }
  require(of_densities(), "functional: ", name_, " is of orbitals alone");
  for (std::size_t k = 0; k < terms.size(); ++k) {
    terms[k] = {local_terms_3d(*own_, densities[k].up, densities[k].down), 0, 0, 0};
  }
}

}  // namespace heddle::models
