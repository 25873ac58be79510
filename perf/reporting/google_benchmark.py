"""Reads what Google Benchmark wrote (--benchmark_out=FILE.json --benchmark_out_format=json) and makes figures of it."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from reporting.figures import DataError

NOT_IN_NAMES = re.compile(r"/(?:manual_time|real_time|process_time|(?:threads|iterations|repeats):\d+|min_time:[\d.]+)")
ARGUMENT = re.compile(r"/([A-Za-z_]\w*):([^/]+)")
RATES = ("gflops", "gbytes", "per_second", "matrices_per_second", "gcells")
UNITS = {"gflops": "GFLOP/s", "gbytes": "GB/s", "gcells": "10^9 cells/s"}


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
                return UNITS.get(unit, unit.replace("_", " ")), *((other, one) if turned else (one, other))
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


def value_of(benchmark):
    """(quantity, value, unit, ours, theirs): a ratio where there is one, else a rate, else the time."""
    if "ratio" in benchmark.counters:
        unit, ours, theirs = benchmark.ours_and_theirs() or ("", None, None)
        return "speed", benchmark.counters["ratio"], unit, ours, theirs
    for key, value in benchmark.counters.items():
        if "_over_" in key:
            return "speed", value, "", None, None
    for key in RATES:
        if key in benchmark.counters:
            return "rate", benchmark.counters[key], UNITS.get(key, key.replace("_", " ")), None, None
    return "time", benchmark.counters["real_time"], benchmark.counters.get("time_unit", "ns"), None, None


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
            return {key: value for key, value in figure.items() if key not in ("values", "ours", "theirs")}, match[1]
    return None, ""


def new_figure(program, benchmark, ranks, modules):
    """A figure of a benchmark that nobody has described yet, in its own words; None where it belongs to no module."""
    module = next((name for name in modules if name in f"{program}/{benchmark.family}"), None)
    if module is None:
        return None
    quantity, _, unit, _, _ = value_of(benchmark)
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
    """Adds what a benchmark measured to its figure, in the figure's quantity and unit."""
    quantity, value, unit, *rates = value_of(benchmark)
    if (figure["quantity"], quantity) == ("cost", "speed"):
        value = 1.0 / value
    scale = 1e-3 if unit.startswith("G") and figure.get("unit") == "T" + unit[1:] else 1.0
    figure.setdefault("values", {})[column] = rounded(value)
    for name, rate in zip(("ours", "theirs"), rates):
        if rate is not None and figure.get("unit"):
            figure.setdefault(name, {})[column] = rounded(rate * scale)


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
        put(figures.setdefault(figure["benchmark"], figure), column, benchmark)
    entry = {"machine": machine, "commit": context.get("git"), "date": context.get("date", "")[:10],
             "software": software_of(context), "figures": list(figures.values())}
    return entry, warnings
