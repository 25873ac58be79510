"""What pictures of psi itself share: what they read of a run's file, and where its nodes are."""

import sys

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(3)

# What begins to be a node is one more clearly than what goes on being one, so that nothing that lies between flickers.
# lobe: the least peak of |psi|^2 beside a node, as a part of the highest; valley: the most that is left between two
# lobes, as a part of the lower one; turn: the most that the cosine of the phase between them may be.
BEGINS = {"lobe": 0.01, "valley": 0.8, "turn": -0.3}
GOES_ON = {"lobe": 0.003, "valley": 0.95, "turn": 0.0}


class Run:
    """The first wave function of a run, frame by frame."""

    def __init__(self, file):
        several = file["restart/psi"].ndim == 2
        self.x = file["grid/x"][:]
        self.t = file["frames/t"][:]
        self.step = file["frames/step"][:]
        self.density = file["density"][:, 0] if several else file["density"][:]
        self.psi = (file["psi"][:, 0] if several else file["psi"][:]) if "psi" in file else None
        self.version, self.git = file.attrs["heddle_version"], file.attrs["git_hash"]
        self.deck = keys_of(file.attrs["deck"])
        self.initial_potential = file["potential/initial"][:]
        self.nuclei = file["nuclei/position"][:][self.step]
        self.field = file["observables/field"][:][self.step] if "observables/field" in file else None

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

    def words(self):
        """Of the potential, for a title."""
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


def lobes_of(density, least, deepest):
    """Indices of the peaks that are `least` of the highest or more, and have a valley of at most `deepest` of the lower
    one between each other."""
    inner = np.flatnonzero((density[1:-1] >= density[:-2]) & (density[1:-1] > density[2:])) + 1
    ends = [i for i, j in ((0, 1), (len(density) - 1, len(density) - 2)) if density[i] > density[j]]
    lobes = []
    for peak in sorted([*inner, *ends]):
        if density[peak] < least * density.max():
            continue
        if lobes and density[lobes[-1]:peak + 1].min() > deepest * min(density[lobes[-1]], density[peak]):
            if density[peak] > density[lobes[-1]]:
                lobes[-1] = peak
        else:
            lobes.append(peak)
    return lobes


def momentum_of(psi):
    """The mean advance of the phase from a point to the next; 0 beyond a quarter of a turn."""
    neighbours = np.vdot(psi[:-1], psi[1:])
    return np.angle(neighbours) if neighbours.real > 0 else 0.0


def nodes_of(x, psi, before=()):
    """Places of the nodes of psi where it matters: between two lobes whose phases, beside what the mean momentum makes of
    them, are nearer opposite than alike. `before`: those of the frame before, which go on more easily."""
    density = np.abs(psi) ** 2
    if len(x) < 3 or not density.max() > 0:
        return []
    lobes = lobes_of(density, GOES_ON["lobe"], GOES_ON["valley"])
    advance = momentum_of(psi)
    nodes = []
    for left, right in zip(lobes, lobes[1:]):
        # Less what the mean momentum does to the phase, which is then 0 at the left lobe.
        turned = psi[left:right + 1] * np.exp(-1j * (np.angle(psi[left]) + advance * np.arange(right - left + 1)))
        cosine = turned[-1].real / abs(turned[-1])
        if not cosine < GOES_ON["turn"]:
            continue
        # The part along the difference of the two phases: positive at the left lobe, negative at the right one.
        part = (turned * np.conj(1 - turned[-1] / abs(turned[-1]))).real
        crossings = np.flatnonzero((part[:-1] > 0) & (part[1:] <= 0))
        lowest = min(crossings, key=lambda k: density[left + k] + density[left + k + 1])
        share = part[lowest] / (part[lowest] - part[lowest + 1])
        place = x[left + lowest] + share * (x[1] - x[0])
        lower = min(density[left], density[right])
        begins = (lower >= BEGINS["lobe"] * density.max() and cosine <= BEGINS["turn"]
                  and density[left:right + 1].min() <= BEGINS["valley"] * lower)
        if begins or any(x[left] < old < x[right] for old in before):
            nodes.append(place)
    return nodes


def nodes_of_all(run):
    """Of every frame, in their order."""
    found, before = [], []
    for psi in run.psi:
        before = nodes_of(run.x, psi, before)
        found.append(before)
    return found


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
