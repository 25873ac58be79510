#!/usr/bin/env python3
"""The float64 product C = A B by JAX, sharded over all devices of one process, beside one device's product.

    perf/peers/python/jax_gemm.py [--sizes 8192 16384 32768] [--runs 8] [--devices N] [--json FILE]

The matrices are those of the C++ benchmarks (perf/support/operands.hpp, seeds 1 and 2). Two placements, both by
jax.jit with shardings of inputs and output: `bands` (A and C in row bands, B in column bands) and, where the devices
form a square, `grid` (blocks over a square grid). In turn with each sharded run, device 0 alone multiplies matrices of
min(n, 16384): the ratio is the aggregate rate over that rate times the number of devices, as in perf_cublas.
Exit status: 0 done and checked, 1 a product is wrong, 3 JAX is missing.
"""

import argparse
import json
import math
import os
import statistics
import sys
import time

# Memory as it is needed, since another program may hold some. NVLink multicast only where it is asked for: a process
# that dies with it can take a shared server's GPUs along.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("NCCL_NVLS_ENABLE", "0")

try:
    import jax
    import numpy as np
    from jax import numpy as jnp
    from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding
except ImportError as error:
    print(f"jax_gemm: {error}", file=sys.stderr)
    sys.exit(3)

jax.config.update("jax_enable_x64", True)


def entries(xp, i, j, seed):
    """Numbers in (-1, 1) from unsigned 64-bit indices."""
    def shifted(z):
        return z ^ (z >> xp.uint64(32))

    factor = xp.uint64(0xD6E8FEB86659FD93)
    z = i * xp.uint64(0x9E3779B97F4A7C15) + j * xp.uint64(0xC2B2AE3D27D4EB4F) + xp.uint64(seed)
    z = shifted(shifted(shifted(z) * factor) * factor)
    return (z >> xp.uint64(11)).astype(xp.float64) / 4503599627370496.0 - 1.0


def random_matrix(n, seed, sharding):
    """The n x n matrix of a seed, made where it belongs."""
    def make():
        shape = (n, n)
        rows = jax.lax.broadcasted_iota(jnp.uint64, shape, 0)
        columns = jax.lax.broadcasted_iota(jnp.uint64, shape, 1)
        return entries(jnp, rows, columns, seed)

    return jax.jit(make, out_shardings=sharding)()


def is_product(C):
    """Whether some elements of C are those of the product."""
    n = C.shape[0]
    probes = 64
    at = [(p * (n - 1) // (probes - 1), p * 37 % probes * (n - 1) // (probes - 1)) for p in range(probes)]
    rows, columns = (np.array(indices) for indices in zip(*at))
    found = np.asarray(C[rows, columns])
    k = np.arange(n, dtype=np.uint64)
    expected = [
        math.fsum(entries(np, np.full_like(k, i), k, 1) * entries(np, k, np.full_like(k, j), 2)) for i, j in at
    ]
    return bool(np.max(np.abs(found - expected)) <= 8 * n * 2.0**-53)


class Product:
    """C = A B with given shardings, compiled and warm."""

    def __init__(self, n, a, b, c):
        self.n = n
        self.A, self.B = random_matrix(n, 1, a), random_matrix(n, 2, b)
        self.multiply = jax.jit(jnp.matmul, in_shardings=(a, b), out_shardings=c)
        self.C = self.multiply(self.A, self.B).block_until_ready()

    def seconds(self):
        self.C = None  # or two of them at a time
        start = time.perf_counter()
        self.C = self.multiply(self.A, self.B).block_until_ready()
        return time.perf_counter() - start

    def gflops(self, seconds):
        return 2.0 * self.n**3 / seconds / 1e9


def shardings(devices):
    """Return the shardings of A, B and C by name."""
    line = Mesh(np.array(devices), ("x",), axis_types=(AxisType.Auto,))
    rows = NamedSharding(line, PartitionSpec("x", None))
    found = {"bands": (rows, NamedSharding(line, PartitionSpec(None, "x")), rows)}
    side = math.isqrt(len(devices))
    if side > 1 and side * side == len(devices):
        square = Mesh(np.array(devices).reshape(side, side), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
        blocks = NamedSharding(square, PartitionSpec("x", "y"))
        found["grid"] = (blocks, blocks, blocks)
    return found


def measure(name, where, n, devices, runs):
    """One row of the table."""
    one_device = SingleDeviceSharding(devices[0])
    alone = Product(min(n, 16384), one_device, one_device, one_device)
    sharded = Product(n, *where)
    pairs = [(sharded.seconds(), alone.seconds()) for _ in range(runs)]
    ratios = [sharded.gflops(ours) / (len(devices) * alone.gflops(theirs)) for ours, theirs in pairs]
    times, times_alone = zip(*pairs)
    return {
        "name": f"gemm/double/{name}/n:{n}",
        "gflops": sharded.gflops(statistics.median(times)),
        "gflops_best": sharded.gflops(min(times)),
        "gflops_one_device": alone.gflops(statistics.median(times_alone)),
        "gflops_one_device_best": alone.gflops(min(times_alone)),
        "ratio": statistics.median(ratios),
        "ratio_best": sharded.gflops(min(times)) / (len(devices) * alone.gflops(min(times_alone))),
        "seconds": list(times),
        "right": is_product(sharded.C) and is_product(alone.C),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[8192, 16384, 32768], metavar="N")
    parser.add_argument("--runs", type=int, default=8, metavar="N", help="runs of each side, in turn")
    parser.add_argument("--devices", type=int, metavar="N", help="how many of the devices; all")
    parser.add_argument("--json", metavar="FILE", help="write the table and each time")
    arguments = parser.parse_args()

    devices = jax.devices()[: arguments.devices]
    print(f"JAX {jax.__version__}, {len(devices)} x {devices[0].device_kind}")
    print(f"{'':28} {'GFLOP/s':>10} {'best':>10} {'one device':>10} {'ratio':>7} {'best':>7}")
    rows = []
    for n in arguments.sizes:
        for name, where in shardings(devices).items():
            row = measure(name, where, n, devices, arguments.runs)
            rows.append(row)
            print(f"{row['name']:28} {row['gflops']:10.0f} {row['gflops_best']:10.0f} {row['gflops_one_device']:10.0f} "
                  f"{row['ratio']:7.3f} {row['ratio_best']:7.3f}{'' if row['right'] else '  WRONG'}", flush=True)
    if arguments.json:
        report = {"jax": jax.__version__, "devices": [device.device_kind for device in devices], "results": rows}
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2)
            file.write("\n")
    return 0 if all(row["right"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
