"""The energy of lithium hydride against the distance of its nuclei, by PySCF with Heddle's eigensolver.

In each step PySCF calls `eig(h, s)` of its object for the orbitals of h c = s c e, which is heddle.eigh(h, s).
The second panel shows how far the energies are from those with PySCF's own eigensolver.

    python molecule.py molecule.png [--small]
"""

# %%
import sys

import heddle
import matplotlib
import numpy as np
from pyscf import dft, gto

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def orbitals(h, s, **_):
    """Return what PySCF's eig() returns; newer versions also pass an orthonormal basis."""
    return heddle.eigh(h, s)


def energy(distance, basis, eig=None):
    """Return the energy in hartree, with the local functional of Perdew and Wang, at a distance in bohr."""
    molecule = gto.M(atom=f"Li 0 0 0; H 0 0 {distance}", unit="bohr", basis=basis, verbose=0)
    field = dft.RKS(molecule, xc="LDA,PW")
    field.conv_tol = 1e-10
    if eig is not None:
        field.eig = eig
    found = field.kernel()
    if not field.converged:
        raise RuntimeError(f"no self-consistency at {distance} bohr")
    return found


# %%
def main(picture, small=False):
    distances = np.linspace(2.2, 6.0, 4 if small else 20)
    basis = "6-31g" if small else "cc-pvtz"
    ours = np.array([energy(distance, basis, orbitals) for distance in distances])
    theirs = np.array([energy(distance, basis) for distance in distances])

    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(6.4, 6.0), layout="constrained")
    above.plot(distances, ours, "o-", color="#2a6f97")
    above.set_ylabel("energy [hartree]")
    above.set_title(f"LiH, {basis}, LDA: PySCF with heddle.eigh")
    below.semilogy(distances, np.maximum(np.abs(ours - theirs), 1e-16), "s", color="#d1495b")
    below.set_ylim(5e-17, 1e-11)
    below.set_xlabel("distance of the nuclei [bohr]")
    below.set_ylabel("off PySCF's own eigensolver [hartree]")
    figure.savefig(picture, dpi=120)
    plt.close(figure)
    return distances, ours, theirs


if __name__ == "__main__":
    main(sys.argv[1], "--small" in sys.argv)
