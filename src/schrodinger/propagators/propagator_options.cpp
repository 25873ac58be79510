// Names and checks of propagator options.
#include "core/names.hpp"
#include "schrodinger/hamiltonian/fourier.hpp"
#include "schrodinger/propagators/propagator.hpp"
#include <heddle/core/error.hpp>

#include <cmath>

namespace heddle::schrodinger {

namespace {

constexpr impl::Names<PropagatorKind, 6> propagator_names = {{{PropagatorKind::automatic, "automatic"},
                                                              {PropagatorKind::expm, "expm"},
                                                              {PropagatorKind::magnus4, "magnus4"},
                                                              {PropagatorKind::crank_nicolson, "crank-nicolson"},
                                                              {PropagatorKind::split_operator, "split-operator"},
                                                              {PropagatorKind::chebyshev, "chebyshev"}}};

bool has_order(PropagatorKind kind, int order) {
  switch (kind) {
    case PropagatorKind::expm:
    case PropagatorKind::crank_nicolson:
      return order == 2;
    case PropagatorKind::magnus4:
      return order == 4;
    default:
      return order == 2 || order == 4;
  }
}

}  // namespace

bool has_degree(PropagatorKind kind) {
  return kind == PropagatorKind::expm || kind == PropagatorKind::magnus4;
}

std::string_view to_string(PropagatorKind kind) {
  return impl::name_of(propagator_names, kind, "propagator");
}

PropagatorKind propagator_kind_from(std::string_view text) {
  return impl::value_of(propagator_names, text == "auto" ? "automatic" : text, "propagator");
}

std::string to_string(const PropagatorChoice& choice) {
  if (choice.kind == PropagatorKind::automatic) return "automatic";
  return message_of(to_string(choice.kind), ", order ", choice.order,
                    choice.substeps == 1 ? "" : message_of(", ", choice.substeps, " substeps"),
                    choice.reason.empty() ? "" : message_of(": ", choice.reason));
}

void validate(const PropagatorOptions& options) {
  require(options.order == 0 || has_order(options.kind, options.order), "propagator ", to_string(options.kind),
          " has no order ", options.order, options.kind == PropagatorKind::expm ? "; magnus4 is of order 4" : "");
  require(options.substeps >= 1, "propagator.substeps = ", options.substeps, " must be at least 1");
  require(options.degree >= 0, "propagator.degree = ", options.degree, " must not be negative");
  require(options.tolerance >= 0 && options.tolerance < 1, "propagator.tolerance = ", options.tolerance,
          " must be at least 0 and less than 1");
  require(options.degree == 0 || has_degree(options.kind), "propagator.degree = ", options.degree, ": propagator ",
          to_string(options.kind), " has no Taylor series; expm and magnus4 have one");
  require(options.arithmetic == Arithmetic::native || has_degree(options.kind),
          "propagator.arithmetic = ", to_string(options.arithmetic), ": propagator ", to_string(options.kind),
          " takes no matrix products; expm and magnus4 do");
  require(!options.certificate || has_degree(options.kind), "a certificate is for exponentials: propagator ",
          to_string(options.kind), " computes none as a matrix; expm and magnus4 do");
  require(options.tile >= 0, "tile = ", options.tile, " must not be negative");
  require(std::isfinite(options.duration) && options.duration >= 0, "propagator duration = ", options.duration,
          " must be finite and not negative");
  require(options.kind != PropagatorKind::split_operator || impl::has_fourier(),
          "the split operator needs a Fourier transform: this build was configured without FFTW");
}

}  // namespace heddle::schrodinger
