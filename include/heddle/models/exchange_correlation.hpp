// Exchange and correlation in three dimensions: this library's functionals, those of libxc, and shares of the exchange
// of orbitals.
#pragma once

#include <heddle/models/functionals.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace heddle::models {

/// The spin densities at a point, in 1/bohr^3, and the products of their gradients, in 1/bohr^8.
struct SpinDensities {
  double up = 0;
  double down = 0;
  double up_up = 0;
  double up_down = 0;
  double down_down = 0;
};

/// The parts of a functional at a point, and its derivatives by the products of gradients.
struct FunctionalTerms : LocalTerms {
  double by_up_up = 0;
  double by_up_down = 0;
  double by_down_down = 0;
};

/// Exchange-correlation functional in three dimensions:
///
///     E_xc = a E_x[orbitals] + integral of f(n_up, n_down, |grad n_up|^2, grad n_up . grad n_down, |grad n_down|^2)
///
/// with Hartree-Fock exchange E_x. Functionals of libxc (S. Lehtola, C. Steigemann, M. J. T. Oliveira, M. A. L.
/// Marques, SoftwareX 7, 1 (2018)) are available if this library was built with it.
class ExchangeCorrelation {
 public:
  /// Make one of this library's own functionals. Throws Error(argument) for `lda_csc`, which is for one dimension.
  ExchangeCorrelation(Functional functional);  // NOLINT(google-explicit-constructor): each is one of these
  /// Make a functional by name: a to_string(Functional) of three dimensions; "pbe", "pbesol", "blyp", "pbe0" or "b3lyp"
  /// (with the correlation of Vosko, Wilk and Nusair's fit to the random-phase approximation); or names of libxc,
  /// joined by "+", as in "gga_x_pbe+gga_c_pbe". Throws Error(argument) for other names, for functionals of
  /// kinetic-energy densities, range-separated ones, those of other dimensions or of anything but exchange and
  /// correlation, and if libxc is needed and absent.
  explicit ExchangeCorrelation(std::string_view name);

  /// Whether functionals of libxc are available.
  [[nodiscard]] static bool has_libxc() noexcept;

  /// Name of the functional.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The library's own functional; nothing if it is one of libxc.
  [[nodiscard]] std::optional<Functional> own() const noexcept { return own_; }
  /// The share a of the exchange of orbitals: 1 with `hf`.
  [[nodiscard]] double orbital_exchange() const noexcept { return orbital_exchange_; }
  /// Whether it depends on densities: not with `hf`.
  [[nodiscard]] bool of_densities() const noexcept { return own_ != Functional::hf; }
  /// Whether it depends on gradients as well.
  [[nodiscard]] bool of_gradients() const noexcept { return of_gradients_; }

  /// Evaluate the terms at each point; `terms` has as many elements as `densities`. Energies that join exchange and
  /// correlation count as exchange. May be called by several threads at a time.
  void evaluate(std::span<const SpinDensities> densities, std::span<FunctionalTerms> terms) const;

 private:
  struct Libxc;

  std::string name_;
  std::optional<Functional> own_;
  double orbital_exchange_ = 0;
  bool of_gradients_ = false;
  std::shared_ptr<const Libxc> libxc_;
};

}  // namespace heddle::models
