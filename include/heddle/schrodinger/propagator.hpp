// How a wave function gets from one time to the next.
#pragma once

#include <heddle/gemm/emulation.hpp>
#include <heddle/schrodinger/hamiltonian.hpp>

#include <string>
#include <string_view>

namespace heddle::schrodinger {

/// How psi(t + dt) is computed from psi(t), for i d psi/dt = (T + V(t) - i W) psi.
///
/// In one dimension T is banded or a convolution, and a product with psi costs some n operations: the matrix
/// exponential with its n^3 is the general method, not the fastest. For comparison, of a step, w being the band's
/// width:
///
/// | kind           | order | operations                               | where H rests | W               |
/// |----------------|-------|------------------------------------------|---------------|-----------------|
/// | expm           | 2     | some 10 to 30 products of n x n matrices | 8 n^2, exact  | in exp()        |
/// | magnus4        | 4     | twice that                               | 8 n^2, exact  | in exp()        |
/// | crank_nicolson | 2     | n w^2, on rank 0 (sinc: n^3)             | n w           | before, after   |
/// | split_operator | 2, 4  | 2 or 12 transforms of 2 n to 3 n values  | the same      | with V          |
/// | chebyshev      | 2, 4  | n w (R + 10), or twice that              | n w (R + 10), | in the series   |
/// |                |       |                                          | exact         |                 |
///
/// R is dt times half the spread of H's values, for fd2 about dt/dx^2. "Exact" is in dt; split_operator and
/// crank_nicolson are not. Transforms take n log n; chebyshev takes two of them a term for sinc.
///
/// Without W all keep the norm, and with a constant W damp psi by exp(-W t), to round-off. crank_nicolson has half of
/// exp(-W dt) before each step and half after it. split_operator of order 4 has a step back in time, in which W
/// amplifies, by exp(0.04 W dt).
/// Near the ends of the grid split_operator has another T than the others, but for fd2: it continues psi as an odd
/// function where the differences of order 4 and 6 and sinc have zeros.
///
/// Bits: rank-invariant. expm and magnus4 share their work among the ranks, crank_nicolson is rank 0's; each rank does
/// all of split_operator and chebyshev for itself, without messages, as a vector is not worth one. They are then the
/// same where the ranks' processors are. Transforms follow FFTW's estimates, not its timings, so that they do not
/// change from run to run.
///
/// Sources: expm and magnus4: W. Magnus, Comm. Pure Appl. Math. 7, 649 (1954); S. Blanes, P. C. Moan, Appl. Numer.
/// Math. 56, 1519 (2006). crank_nicolson: J. Crank, P. Nicolson (1947). split_operator: M. D. Feit, J. A. Fleck, A.
/// Steiger, J. Comput. Phys. 47, 412 (1982); order 4: S. Blanes, P. C. Moan, J. Comput. Appl. Math. 142, 313 (2002).
/// chebyshev: H. Tal-Ezer, R. Kosloff, J. Chem. Phys. 81, 3967 (1984).
enum class PropagatorKind {
  /// What costs least for the accuracy asked for. The first step of a simulation tries each method on its first wave
  /// function: a step of dt/m beside two of half of it, at once and, up to `duration`, at 4 later times, for the m that
  /// the tolerance needs. The cost of each is then what a model of its operations says, with rates measured on one CPU
  /// core: the choice does not depend on timings. Where psi becomes much faster later than it is in the beginning, the
  /// error will be larger than asked for. expm and magnus4 count as chebyshev with other costs.
  automatic,
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

/// Whether PropagatorOptions::degree is for it: expm and magnus4.
[[nodiscard]] bool has_degree(PropagatorKind kind);

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
  /// expm, magnus4: of the matrix products. See Simulation for what emulated ones give.
  Arithmetic arithmetic = Arithmetic::native;
  /// expm and magnus4: prove how far each exponential is from exp(-i H dt), see ExpmPlan. An exponential takes many
  /// times as long then.
  bool certificate = false;
};

/// Throws Error(argument) for an order that the kind does not have, fewer than one substep, a negative degree,
/// tolerance, duration or tile, a tolerance >= 1, a degree of another kind than expm and magnus4, other than native
/// arithmetic or a certificate for such a kind, and for a split operator where the build has no Fourier transform.
void validate(const PropagatorOptions& options);

/// What a step of dt is done with. PropagatorOptions of the same kind, order, substeps and tolerance give the same
/// bits: so a simulation goes on with what `automatic` chose for its first part.
struct PropagatorChoice {
  PropagatorKind kind = PropagatorKind::automatic;
  int order = 2;
  int substeps = 1;
  double tolerance = 0.0;  ///< Of each exponential.
  /// Why `automatic` took it; empty for what was asked for.
  std::string reason;
};
/// For people, as "split-operator, order 4, 3 substeps: ...".
[[nodiscard]] std::string to_string(const PropagatorChoice& choice);

}  // namespace heddle::schrodinger
