// Propagators: methods that compute a wave function at the next time.
#pragma once

#include <heddle/emulation/emulation.hpp>
#include <heddle/schrodinger/hamiltonian.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace heddle::schrodinger {

/// The method by which psi(t + dt) is computed from psi(t), for i d psi/dt = (T + V(t) - i W) psi.
///
/// In one dimension T is banded or a convolution, and a product with psi takes about n operations, so the matrix
/// exponential with its n^3 operations is the general method but not the fastest. The table compares one step of each
/// method: its order in dt, its operations, its operations if H does not depend on time, and the place where W is
/// applied; w is the width of the band.
///
/// | kind           | order | operations                               | H constant    | W               |
/// |----------------|-------|------------------------------------------|---------------|-----------------|
/// | expm           | 2     | 10 to 30 products of n x n matrices      | 8 n^2, exact  | in exp()        |
/// | magnus4        | 4     | twice that                               | 8 n^2, exact  | in exp()        |
/// | crank_nicolson | 2     | n w^2, on rank 0 (sinc: n^3)             | n w           | before, after   |
/// | split_operator | 2, 4  | 2 or 12 transforms of 2 n to 3 n values  | the same      | with V          |
/// | chebyshev      | 2, 4  | n w (R + 10), or twice that              | n w (R + 10), | in the series   |
/// |                |       |                                          | exact         |                 |
///
/// R is dt times half the spread of H's eigenvalues, for fd2 about dt/dx^2. "Exact" means exact in dt if H does not
/// change; split_operator and crank_nicolson are not. A transform takes n log n operations; for sinc, chebyshev takes
/// two of them for each term.
///
/// Without W all methods keep the norm, and with a constant W they damp psi by exp(-W t), to round-off. crank_nicolson
/// applies half of exp(-W dt) before each step and half after it. split_operator of order 4 has a step back in time, in
/// which W amplifies psi, by exp(0.04 W dt). Near the ends of the grid split_operator has a different T from the other
/// methods, except for fd2: it continues psi as an odd function, while the differences of order 4 and 6 and sinc
/// continue it by zeros.
///
/// Bits: rank-invariant. expm and magnus4 share their work among the ranks, and rank 0 alone does crank_nicolson. Each
/// rank does all of split_operator and chebyshev itself, without messages, since a vector is too little work to share;
/// the bits are then the same if the processors of the ranks are the same. Transforms use FFTW's estimates and not its
/// timings, so that their bits do not change from run to run.
///
/// Sources: expm and magnus4: W. Magnus, Comm. Pure Appl. Math. 7, 649 (1954); S. Blanes, P. C. Moan, Appl. Numer.
/// Math. 56, 1519 (2006). crank_nicolson: J. Crank, P. Nicolson (1947). split_operator: M. D. Feit, J. A. Fleck, A.
/// Steiger, J. Comput. Phys. 47, 412 (1982); order 4: S. Blanes, P. C. Moan, J. Comput. Appl. Math. 142, 313 (2002).
/// chebyshev: H. Tal-Ezer, R. Kosloff, J. Chem. Phys. 81, 3967 (1984).
enum class PropagatorKind {
  /// The method that costs least for the requested accuracy.
  ///
  /// Choice: at the first step, and where a long pulse begins or ends, each method is tried on the psi of that time: at
  /// once, and with H at 4 later times, within a pulse at 7, up to its end or that of the run. A step of dt/m is
  /// compared with an accurate one, a Chebyshev series of order 4 with half the step for the given H. So the error
  /// includes a different kinetic energy near the ends of the grid. The cost of each method comes from a model of its
  /// operations, with rates that were measured on one CPU core, so that the choice does not depend on timings. expm and
  /// magnus4 are treated as chebyshev with other costs.
  ///
  /// Control: the error of some of the steps is estimated as they are taken, in the same way: of about one in 16, or of
  /// fewer if an estimate costs much, and of at least 8 within each pulse. A step whose error is above `tolerance` is
  /// repeated with a new choice. A step in which a pulse begins or ends, or whose m substeps do not resolve its carrier
  /// or envelope, is taken in pieces between these times, each halved until two results agree. No pulse is missed,
  /// whatever its duration. The errors are the largest over all wave functions of a Simulation, so one of several may
  /// have other bits than it has alone.
  automatic,
  expm,            ///< psi' = exp(-i H dt) psi by the matrix exponential, with H at the middle of the step. Order 2.
  magnus4,         ///< The product of two matrix exponentials, of averages of H over the step. Order 4.
  crank_nicolson,  ///< (1 + i H dt/2) psi' = (1 - i H dt/2) psi, with H at the middle of the step. Order 2.
  /// Products of exp(-i V b dt) and exp(-i T a dt), where T is applied by the Fourier transform. Order 2 or 4.
  split_operator,
  chebyshev,  ///< The result of expm (order 2) or magnus4 (order 4), from products of H and psi, without a matrix.
};
/// The name of a method: "automatic", "expm", "magnus4", "crank-nicolson", "split-operator" or "chebyshev".
[[nodiscard]] std::string_view to_string(PropagatorKind kind);
/// The method with this name; "auto" also stands for "automatic". Throws Error(argument) for any other text.
[[nodiscard]] PropagatorKind propagator_kind_from(std::string_view text);

/// Whether PropagatorOptions::degree applies to a method: it does to expm and magnus4.
[[nodiscard]] bool has_degree(PropagatorKind kind);

/// The method and parameters of a step of dt. The choice of `automatic` may change in the course of a run;
/// PropagatorOptions::resumed continues a run with its last choice, bit for bit.
struct PropagatorChoice {
  PropagatorKind kind = PropagatorKind::automatic;  ///< Method of a step.
  int order = 2;                                    ///< Order of the error in dt.
  int substeps = 1;                                 ///< Number of equal substeps of each step of dt.
  double tolerance = 0.0;                           ///< Relative error of each exponential.
  /// Why `automatic` chose this; empty if the caller chose it.
  std::string reason;
};
/// How a step of dt is computed, and how accurately.
struct PropagatorOptions {
  PropagatorKind kind = PropagatorKind::expm;  ///< Method of a step.
  /// Order of the error in dt, 2 or 4. 0 stands for 4 with magnus4, either with automatic, and 2 with all others.
  int order = 0;
  /// Number of equal substeps of each step of dt; automatic takes as many as it needs.
  int substeps = 1;
  /// Degree of a Taylor series for expm and magnus4, as in the paper; 0 stands for scaling and squaring to `tolerance`.
  int degree = 0;
  /// For expm, magnus4 and chebyshev, the relative error of an exponential (of expm and magnus4 the backward error); 0
  /// stands for the unit round-off. For automatic, the error of psi in units of its norm and per atomic unit of time; 0
  /// stands for 1e-6.
  double tolerance = 0.0;
  /// The time at which the run ends, in atomic units of time; 0 if unknown. automatic examines H up to this time; the
  /// estimates of errors are spread over it.
  double duration = 0.0;
  /// Tile of the matrix products; 0: default_tile(points).
  Index tile = 0;
  /// Arithmetic of the matrix products of expm and magnus4. See Simulation for the effect of emulated products.
  Arithmetic arithmetic = Arithmetic::native;
  /// Whether expm and magnus4 prove a bound of the error of each exponential exp(-i H dt); see ExpmPlan. An exponential
  /// then takes many times as long.
  bool certificate = false;
  /// For automatic, the last choice of an earlier part of the run, with which it continues.
  std::optional<PropagatorChoice> resumed;
};

/// Throws Error(argument) for an order that the kind does not have, fewer than one substep, a negative degree,
/// tolerance, duration or tile, and a tolerance >= 1; for a degree, a certificate or an arithmetic other than native
/// with another kind than expm and magnus4; and for a split operator if the build has no Fourier transform.
void validate(const PropagatorOptions& options);

/// The choice in words, such as "split-operator, order 4, 3 substeps: ...".
[[nodiscard]] std::string to_string(const PropagatorChoice& choice);

}  // namespace heddle::schrodinger
