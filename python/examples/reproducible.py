"""Sums by keys that do not depend on the order: a weighted histogram, as for particles in cells or gradients of an
embedding.

numpy.add.at rounds after each element, so its bits depend on the order of the elements. heddle.exact.keyed_sum
rounds each sum once.

    python reproducible.py reproducible.png [--small]
"""

# %%
import sys
import time

import heddle
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def plain(x, keys, size):
    sums = np.zeros(size)
    np.add.at(sums, keys, x)
    return sums


# %%
def spread(elements, size, orders):
    """Return the errors of plain sums in several orders, in ULP of the exact sums, and whether the bits of the exact
    sums ever differ."""
    random = np.random.default_rng(1)
    keys = random.integers(0, size, elements)
    x = random.normal(size=elements) * 10.0 ** random.integers(-6, 6, elements)
    exact = heddle.exact.keyed_sum(x, keys, size)
    errors, alike = [], True
    for _ in range(orders):
        order = random.permutation(elements)
        errors.append((plain(x[order], keys[order], size) - exact) / np.spacing(np.abs(exact)))
        alike &= heddle.exact.keyed_sum(x[order], keys[order], size).tobytes() == exact.tobytes()
    return np.array(errors), alike


def seconds(call):
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


# %%
def main(picture, small=False):
    elements, size = (2000, 20) if small else (1_000_000, 1000)
    errors, alike = spread(elements, size, 3 if small else 10)
    print(f"plain sums are off by up to {np.abs(errors).max():.0f} units in the last place; the exact ones "
          f"{'never change' if alike else 'changed'}")
    counts = [10, 100] if small else [10, 1000, 100_000, 1_000_000]
    random = np.random.default_rng(2)
    x = random.normal(size=elements if small else 4_000_000)
    rates = []
    for count in counts:
        keys = random.integers(0, count, len(x))
        times = [seconds(lambda: heddle.exact.keyed_sum(x, keys, count)), seconds(lambda: plain(x, keys, count)),
                 seconds(lambda: np.bincount(keys, x, count))]
        rates.append(len(x) / np.array(times) / 1e6)
        print(f"{count} keys: exact {rates[-1][0]:.0f} million elements a second, np.add.at {rates[-1][1]:.0f}, "
              f"np.bincount {rates[-1][2]:.0f}: exact takes {times[0] / times[1]:.2f} times as long as np.add.at")
    figure, axes = plt.subplots(1, 2, figsize=(11, 4))
    axes[0].hist(np.log10(np.abs(errors[errors != 0])), bins=40)
    axes[0].set(title="np.add.at in several orders", xlabel="error in units of the last place, log10", ylabel="sums")
    for name, column, style in (("heddle.exact.keyed_sum", 0, "o-"), ("np.add.at", 1, "s--"), ("np.bincount", 2, "^:")):
        axes[1].loglog(counts, [rate[column] for rate in rates], style, label=name)
    axes[1].set(title=f"{len(x):,} elements", xlabel="keys", ylabel="million elements a second")
    axes[1].legend()
    figure.tight_layout()
    figure.savefig(picture, dpi=100)
    return errors, alike


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "reproducible.png", "--small" in sys.argv)
