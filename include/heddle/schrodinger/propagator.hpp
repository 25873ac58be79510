// How a wave function gets from one time to the next.
#pragma once

#include <heddle/schrodinger/hamiltonian.hpp>

#include <string>
#include <string_view>

namespace heddle::schrodinger {

enum class PropagatorKind {
  automatic,       ///< What costs least for the accuracy asked for, see choose_propagator().
  expm,            ///< psi' = exp(-i H dt) psi by the matrix exponential, H at the middle of the step. Order 2.
  magnus4,         ///< Two exponentials of averages of H over the step, as matrices. Order 4.
  crank_nicolson,  ///< (1 + i H dt/2) psi' = (1 - i H dt/2) psi, H at the middle of the step. Order 2.
  split_operator,  ///< Products of exp(-i V b dt) and exp(-i T a dt), T by the Fourier transform. Order 2 or 4.
  chebyshev,       ///< What expm (order 2) or magnus4 (order 4) computes, by products of H and psi. No matrix.
};
/// "automatic", "expm", "magnus4", "crank-nicolson", "split-operator" or "chebyshev".
[[nodiscard]] std::string_view to_string(PropagatorKind kind);
/// Also knows "auto". Throws Error(argument) for an unknown name.
[[nodiscard]] PropagatorKind propagator_kind_from(std::string_view text);

struct PropagatorOptions {
  PropagatorKind kind = PropagatorKind::expm;
  /// Order in dt, 2 or 4; 0: 4 for magnus4, 2 for the others, either for automatic.
  int order = 0;
  /// Each step of dt is done in so many equal ones; automatic takes as many as it needs.
  int substeps = 1;
  /// expm and magnus4: of a Taylor series of fixed degree, as in the paper; 0: scaling and squaring, by tolerance.
  int degree = 0;
  /// expm, magnus4, chebyshev: relative error of an exponential (expm, magnus4: backward error); 0: round-off.
  /// automatic: error of psi in units of its norm and per atomic unit of time; 0: 1e-6.
  double tolerance = 0.0;
  /// automatic: H is looked at up to this long after the first step; 0: at the first step alone.
  double duration = 0.0;
  /// Tile of the matrix products; 0: default_tile(points).
  Index tile = 0;
};

/// Throws Error(argument) for an order that the kind does not have, fewer than one substep, a negative degree, tolerance
/// or duration, a tolerance >= 1, and for a split operator where the build has no Fourier transform.
void validate(const PropagatorOptions& options);

/// What a step of dt is done with. PropagatorOptions of the same kind, order, substeps and tolerance give the same bits:
/// so a simulation goes on with what `automatic` chose for its first part.
struct PropagatorChoice {
  PropagatorKind kind = PropagatorKind::automatic;
  int order = 2;
  int substeps = 1;
  /// Of its exponentials: options of these four give the same steps, bit for bit.
  double tolerance = 0.0;
  /// Why `automatic` took it; empty for what was asked for.
  std::string reason;
};
/// For people, as "split-operator, order 4, 3 substeps: ...".
[[nodiscard]] std::string to_string(const PropagatorChoice& choice);

}  // namespace heddle::schrodinger
