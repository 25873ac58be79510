// Exchange and correlation of the homogeneous electron gas as functionals of the local spin densities, in three
// dimensions and in one.
#pragma once

#include <string_view>

namespace heddle::models {

/// Exchange-correlation functionals of a mean field.
enum class Functional {
  hf,        ///< Hartree-Fock: exchange of the orbitals, no correlation.
  lda_x,     ///< Exchange of the electron gas only: Slater's in three dimensions.
  lda_pz,    ///< lda_x, with the correlation of J. P. Perdew, A. Zunger, Phys. Rev. B 23, 5048 (1981).
  lda_pw92,  ///< lda_x, with that of J. P. Perdew, Y. Wang, Phys. Rev. B 45, 13244 (1992).
  lda_vwn,   ///< lda_x, with that of S. H. Vosko, L. Wilk, M. Nusair, Can. J. Phys. 58, 1200 (1980), their fit V.
  lda_csc,   ///< One dimension: that of M. Casula, S. Sorella, G. Senatore, Phys. Rev. B 74, 245427 (2006).
};
/// Return the name: "hf", "lda-x", "lda-pz", "lda-pw92", "lda-vwn" or "lda-csc".
[[nodiscard]] std::string_view to_string(Functional functional);

/// Terms of a local functional at spin densities n_up and n_down, with n = n_up + n_down.
struct LocalTerms {
  double exchange = 0;     ///< Exchange energy per volume, n epsilon_x.
  double correlation = 0;  ///< Correlation energy per volume, n epsilon_c.
  double up = 0;           ///< Potential d(n epsilon_xc)/dn_up, hartree.
  double down = 0;         ///< Potential d(n epsilon_xc)/dn_down, hartree.
};

/// Evaluate exchange and correlation in three dimensions at spin densities in 1/bohr^3:
///
///     n epsilon_x = -3/4 (6/pi)^(1/3) (n_up^(4/3) + n_down^(4/3))
///     epsilon_c(r_s, zeta), r_s = (3/(4 pi n))^(1/3), zeta = (n_up - n_down)/n
///
/// with the constants as published. Perdew and Zunger's correlation joins two pieces at r_s = 1, where it is continuous
/// only to 4e-5 hartree. A density below 1e-18 counts as 0. Throws Error(argument) for `hf` and `lda_csc`.
[[nodiscard]] LocalTerms local_terms_3d(Functional functional, double up, double down);

/// Evaluate exchange and correlation in one dimension at spin densities in 1/bohr; electrons interact by 1/sqrt(u^2 +
/// a^2), a = softening:
///
///     n epsilon_x = (e(2 n_up) + e(2 n_down))/2, e(n) = n epsilon_x(n) of eigen::local_exchange()
///     epsilon_c(r_s, zeta) = epsilon_c(r_s, 0) + zeta^2 (epsilon_c(r_s, 1) - epsilon_c(r_s, 0)), r_s = 1/(2 n)
///
/// The correlation is a fit to quantum Monte Carlo for a = 1, polarised by N. Helbig et al., Phys. Rev. A 83, 032503
/// (2011). Throws Error(argument) for functionals other than `lda_x` and `lda_csc`, and for `lda_csc` unless a = 1.
[[nodiscard]] LocalTerms local_terms_1d(Functional functional, double up, double down, double softening = 1);

}  // namespace heddle::models
