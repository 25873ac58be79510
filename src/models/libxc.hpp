// One functional of libxc, if the build has it.
#pragma once

#include <heddle/models/exchange_correlation.hpp>

#include <memory>
#include <span>
#include <string>

namespace heddle::impl {

class LibxcFunctional {
 public:
#ifdef HEDDLE_LIBXC
  static constexpr bool available = true;
#else
  static constexpr bool available = false;
#endif

  /// Throws as models::ExchangeCorrelation does.
  explicit LibxcFunctional(const std::string& name);

  /// Share of orbital exchange, which hybrid functionals have.
  [[nodiscard]] double orbital_exchange() const noexcept {
    return orbital_exchange_;
  }
  [[nodiscard]] bool of_gradients() const noexcept {
    return of_gradients_;
  }
  /// Adds its terms to those of other functionals at these points.
  void add_to(std::span<const models::SpinDensities> densities, std::span<models::FunctionalTerms> terms) const;

 private:
  struct Handle;
  std::shared_ptr<const Handle> handle_;
  double orbital_exchange_ = 0;
  bool of_gradients_ = false;
  bool is_correlation_ = false;
};

}  // namespace heddle::impl
