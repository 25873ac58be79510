"""Data of a run's file that the pictures of psi itself share."""

import sys

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(3)


class Run:
    """The first wave function of a run, frame by frame."""

    def __init__(self, file):
        several = file["restart/psi"].ndim == 2
        self.x = file["grid/x"][:]
        self.t = file["frames/t"][:]
        self.step = file["frames/step"][:]
        self.density = file["density"][:, 0] if several else file["density"][:]
        self.nodes = nodes_of(file, self.step)
        self.psi = (file["psi"][:, 0] if several else file["psi"][:]) if "psi" in file else None
        self.version, self.git = file.attrs["heddle_version"], file.attrs["git_hash"]
        self.deck = keys_of(file.attrs["deck"])
        self.initial_potential = file["potential/initial"][:]
        self.nuclei = file["nuclei/position"][:][self.step]
        self.field = file["observables/field"][:][self.step] if "observables/field" in file else None
        self.lost = {name: (file[f"observables/{name}"][:, 0] if several else file[f"observables/{name}"][:])[self.step]
                     for name in ("ionisation", "outside", "absorbed") if f"observables/{name}" in file}

    def potential(self, frame):
        """V(x) at a frame, or None where the file does not say how it moves."""
        if self.deck["potential.kind"] == "soft-core":
            charge, softening = float(self.deck["potential.charge"]), float(self.deck["potential.softening"])
            values = sum(-charge / np.sqrt((self.x - place) ** 2 + softening) for place in self.nuclei[frame])
        elif self.field is None:
            return self.initial_potential
        else:
            values = self.initial_potential - self.x * self.field[0]
        return values if self.field is None else values + self.x * self.field[frame]

    def absorber(self):
        """Return the width of the absorbing layer at either end of the grid, bohr; 0 without one."""
        return 0.0 if self.deck["absorber.kind"] == "none" else float(self.deck["absorber.width"])

    def leaves(self):
        """Return whether the electron can leave: there is a pulse or an absorber."""
        return self.field is not None or self.absorber() > 0

    def words(self):
        """Return the name of the potential for a title."""
        kind = self.deck["potential.kind"]
        if kind == "soft-core":
            return (f"soft-core, Z = {float(self.deck['potential.charge']):g}, a = "
                    f"{float(self.deck['potential.softening']):g}, nuclei: {self.deck['nuclei.motion']}")
        return f"{kind} potential"


def keys_of(deck):
    """Values of a resolved deck by "table.key"; of [[pulse]] the last."""
    values, table = {}, ""
    for line in deck.splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            table = line.strip("[]")
        elif "=" in line:
            key, value = (part.strip() for part in line.split("=", 1))
            values[f"{table}.{key}"] = value.strip('"')
    return values


def nodes_of(file, steps):
    """Places of the nodes of the first wave function at these steps."""
    counts = file["observables/nodes"][:]
    ends = np.cumsum(counts).reshape(len(counts), -1)[:, 0]
    first = counts.reshape(len(counts), -1)[:, 0]
    places = file["observables/node_positions"][:]
    return [places[ends[step] - first[step]:ends[step]] for step in steps]


def window(run, frames):
    """Ends of the part of x in which some density of `frames` is not negligible, with a margin."""
    shown = run.density[frames]
    seen = np.flatnonzero((shown > 1e-3 * shown.max()).any(axis=0))
    if not len(seen):
        return run.x[0], run.x[-1]
    low, high = run.x[seen[0]], run.x[seen[-1]]
    margin = 0.12 * max(high - low, run.x[1] - run.x[0])
    return max(low - margin, run.x[0]), min(high + margin, run.x[-1])


def open_run(source):
    with h5py.File(source, "r") as file:
        return Run(file)
