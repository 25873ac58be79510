"""Reads what Google Benchmark wrote (--benchmark_out=FILE.json --benchmark_out_format=json) and makes figures of it."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from reporting.figures import BEHIND, DataError

NOT_IN_NAMES = re.compile(r"/(?:manual_time|real_time|process_time|(?:threads|iterations|repeats):\d+|min_time:[\d.]+)")
ARGUMENT = re.compile(r"/([A-Za-z_]\w*):([^/]+)")
UNITS = {"gflops": "GFLOP/s", "gbytes": "GB/s", "per_second": "matrices/s", "matrices_per_second": "matrices/s",
         "gcells": "10^9 cells/s"}  # of the counters that are rates
RATES = tuple(UNITS)
TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass
class Benchmark:
    """One line of a report: its family, its arguments, and what it counted."""
    family: str
    arguments: dict
    counters: dict
    error: str

    @property
    def name(self):
        return self.family + "".join(f"/{key}:{value}" for key, value in self.arguments.items())

    def ours_and_theirs(self):
        """(unit, rate of the first contender, of the second) where the benchmark compared two, else None."""
        for unit in RATES:
            rates = [value for key, value in self.counters.items()
                     if key.startswith(unit + "_") and not key.startswith(unit + "_best") and value]
            if len(rates) == 2:
                # Counters have lost their order: the ratio, of the first over the second, says which is which.
                one, other = rates
                turned = abs(other / one - self.ratio) < abs(one / other - self.ratio)
                return UNITS[unit], *((other, one) if turned else (one, other))
        return None

    @property
    def ratio(self):
        return self.counters.get("ratio", 1.0)


def read(path):
    """(context, benchmarks) of a report; aggregates are left out."""
    try:
        report = json.loads(Path(path).read_text(encoding="utf-8"))
        context, entries = report["context"], report["benchmarks"]
    except (OSError, json.JSONDecodeError, KeyError, TypeError) as error:
        raise DataError(f"{Path(path).name}: unfinished, or not by Google Benchmark ({error})") from error
    benchmarks = []
    for entry in entries:
        if entry.get("run_type") == "aggregate":
            continue
        name = NOT_IN_NAMES.sub("", entry["name"])
        error = entry.get("error_message", "failed") if entry.get("error_occurred") else ""
        benchmarks.append(Benchmark(ARGUMENT.sub("", name), dict(ARGUMENT.findall(name)), entry, error))
    return context, benchmarks


def ratio_of(benchmark):
    """The speed over the peer's, or None where the benchmark compared nothing."""
    if "ratio" in benchmark.counters:
        return benchmark.ratio
    return next((value for key, value in benchmark.counters.items() if "_over_" in key), None)


def energies_of(benchmark):
    """Return the joules of a run and of the peer's; None if nothing was counted, or with several peers."""
    peers = [value for key, value in benchmark.counters.items() if key.startswith("joules_")]
    return benchmark.counters.get("joules"), peers[0] if len(peers) == 1 else None


def rate_of(benchmark):
    """(unit, rate) of the benchmark itself, or ("", None)."""
    key = next((key for key in RATES if key in benchmark.counters), None)
    return (UNITS[key], benchmark.counters[key]) if key else ("", None)


def time_of(benchmark, unit):
    """Return the mean time in a unit; None if it is not a unit of time."""
    seconds = benchmark.counters["real_time"] * TIMES[benchmark.counters.get("time_unit", "ns")]
    return seconds / TIMES[unit] if unit in TIMES else None


def value_of(benchmark, quantity, unit):
    """Return a benchmark's value of a quantity, or None."""
    if quantity == "time":
        return time_of(benchmark, unit)
    if quantity == "rate":
        own_unit, rate = rate_of(benchmark)
        return None if rate is None else scaled(rate, own_unit, unit)
    ratio = ratio_of(benchmark)
    if quantity == "cost" and ratio:
        return 1.0 / ratio
    return ratio if quantity in ("speed", "share") else None


def scaled(rate, unit, wanted):
    """A rate in the unit that a figure wants: GFLOP/s as TFLOP/s; None where they are of different kinds."""
    if wanted == unit or wanted.startswith(unit + " "):
        return rate
    return 1e-3 * rate if unit.startswith("G") and wanted == "T" + unit[1:] else None


def quantity_of(benchmark):
    """(quantity, unit) of a benchmark that nobody has described."""
    if ratio_of(benchmark) is not None:
        return "speed", (benchmark.ours_and_theirs() or rate_of(benchmark))[0]
    unit, rate = rate_of(benchmark)
    return ("time", benchmark.counters.get("time_unit", "ns")) if rate is None else ("rate", unit)


def program_of(context):
    return Path(context.get("executable", "unknown")).name


def columns_of(known):
    """(figure, pattern) of every figure that a benchmark makes; the pattern finds the column in a name."""
    for figure in known:
        if "benchmark" in figure:
            before, _, after = figure["benchmark"].partition("{}")
            yield figure, re.compile(re.escape(before) + "(.+?)" + re.escape(after))


def placed(name, known):
    """The known figure, without its values, and the column of a benchmark; (None, "") of a new one."""
    for figure, pattern in columns_of(known):
        match = pattern.fullmatch(name)
        if match:
            return {key: value for key, value in figure.items() if key not in ("values", *BEHIND)}, match[1]
    return None, ""


def new_figure(program, benchmark, ranks, modules):
    """Return a figure, in the benchmark's own words, of a benchmark without a description; None if it has no module."""
    module = next((name for name in modules if name in f"{program}/{benchmark.family}"), None)
    if module is None:
        return None
    quantity, unit = quantity_of(benchmark)
    case = {key: value for key, value in benchmark.arguments.items() if key != "n"} | {"ranks": ranks}
    column = {"n": "{}"} if "n" in benchmark.arguments else {}
    name = Benchmark(benchmark.family, benchmark.arguments | column, {}, "").name
    return {"module": module, "operation": benchmark.family, "quantity": quantity, "unit": unit, "case": case,
            "over": "n" if "n" in benchmark.arguments else "case",
            "command": f"mpirun -n {ranks} {program} --benchmark_filter='{benchmark.family}'",
            "benchmark": f"{program}:{name}/ranks:{ranks}", "detail": True}


def rounded(value):
    """Four digits; a whole number as one."""
    value = float(f"{value:.4g}")
    return int(value) if value.is_integer() else value


def put(figure, column, benchmark):
    """Adds what a benchmark measured to its figure, in the figure's quantity and unit; False where it has none."""
    wanted = figure.get("unit", "")
    value = value_of(benchmark, figure["quantity"], wanted)
    if value is None:
        return False
    figure.setdefault("values", {})[column] = rounded(value)
    if figure["quantity"] not in ("time", "rate"):
        unit, *rates = benchmark.ours_and_theirs() or rate_of(benchmark)
        for name, rate in zip(("ours", "theirs"), rates):
            if rate is not None and scaled(rate, unit, wanted) is not None:
                figure.setdefault(name, {})[column] = rounded(scaled(rate, unit, wanted))
    for name, joules in zip(("joules", "joules_theirs"), energies_of(benchmark)):
        if joules is not None:
            figure.setdefault(name, {})[column] = rounded(joules)
    return True


def software_of(context):
    software = {name: context[name] for name in ("heddle", "blas") if name in context}
    version = re.search(r"Kokkos Version:\s*(\S+)", context.get("kokkos", ""))
    return software | ({"kokkos": version[1]} if version else {})


def convert(path, machine, results):
    """(entry, warnings): the figures of one report of Google Benchmark, as a file of results holds them."""
    context, benchmarks = read(path)
    program, ranks = program_of(context), int(context.get("ranks", 1))
    known = [figure for name, figure in reversed(results.raw) if name == machine]
    figures, warnings = {}, []
    for benchmark in benchmarks:
        if benchmark.error:
            warnings.append(f"{benchmark.name}: left out, since it failed: {benchmark.error}")
            continue
        figure, column = placed(f"{program}:{benchmark.name}/ranks:{ranks}", known)
        if figure is None:
            figure, column = new_figure(program, benchmark, ranks, results.modules), benchmark.arguments.get("n", "all")
            if figure is None:
                warnings.append(f"{benchmark.name}: left out, since modules.json has no module of that name")
                continue
            if figure["benchmark"] not in figures:
                warnings.append(f"{benchmark.name}: new: describe it in plain words, then take away its \"detail\"")
        if not put(figures.setdefault(figure["benchmark"], figure), column, benchmark):
            warnings.append(f"{benchmark.name}: left out, since it has no {figure['quantity']} in {figure.get('unit')}")
    entry = {"machine": machine, "commit": context.get("git"), "date": context.get("date", "")[:10],
             "software": software_of(context), "figures": [figure for figure in figures.values() if "values" in figure]}
    return entry, warnings
