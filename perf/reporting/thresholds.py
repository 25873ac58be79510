"""Thresholds of the figures, from thresholds.json, and the check that the figures reach them."""

from dataclasses import dataclass

from reporting.figures import DataError, read_json

FIELDS = {"where", "at_least", "at_most", "known_short"}
OF_WHERE = {"module", "operation", "peer", "machine", "quantity", "unit", "over", "case"}


@dataclass
class Verdict:
    """One value beside what it has to reach."""
    bound: object
    sign: str
    met: bool
    reason: str  # link to where the documents say why it falls short, if it is known to


@dataclass
class Threshold:
    where: dict
    sign: str  # "≥" or "≤"
    bounds: object  # one number, or one a column
    known_short: dict

    def applies_to(self, series):
        for name, wanted in self.where.items():
            if name == "case":
                if any(series.case.get(key) != value for key, value in wanted.items()):
                    return False
            elif getattr(series, name) != wanted:
                return False
        return True

    def bound(self, label):
        return self.bounds.get(label) if isinstance(self.bounds, dict) else self.bounds

    def verdict(self, cell, label):
        bound = self.bound(label)
        if bound is None:
            return None
        met = min(cell.runs) >= bound if self.sign == "≥" else max(cell.runs) <= bound
        return Verdict(bound, self.sign, met, self.known_short.get(label, ""))


def read_thresholds(path):
    thresholds = []
    for number, entry in enumerate(read_json(path), 1):
        bounds = [name for name in ("at_least", "at_most") if name in entry]
        unknown = entry.keys() - FIELDS
        strange = entry.get("where", {}).keys() - OF_WHERE
        if unknown or strange or len(bounds) != 1 or not entry.get("where"):
            raise DataError(f"thresholds.json, entry {number}: needs where and one of at_least, at_most; "
                            "may have known_short")
        sign = "≥" if bounds[0] == "at_least" else "≤"
        thresholds.append(Threshold(entry["where"], sign, entry[bounds[0]], entry.get("known_short", {})))
    return thresholds


def verdicts_of(series, thresholds):
    """The verdict of each column of a series that has a threshold; the last threshold that applies counts."""
    found = {}
    for threshold in thresholds:
        if threshold.applies_to(series):
            for label, cell in series.cells.items():
                verdict = threshold.verdict(cell, label)
                if verdict:
                    found[label] = verdict
    return found


def problems(results, thresholds):
    """Return figures that miss their threshold without a given reason, and thresholds without a figure."""
    found = []
    for number, threshold in enumerate(thresholds, 1):
        served = [series for series in results.series if threshold.applies_to(series)]
        labels = {label for series in served for label in series.cells}
        wanted = set(threshold.bounds if isinstance(threshold.bounds, dict) else ()) | set(threshold.known_short)
        if not served or wanted - labels:
            found.append(f"thresholds.json, entry {number}: no figure has {sorted(wanted - labels) or threshold.where}")
    for series in results.series:
        for label, verdict in verdicts_of(series, thresholds).items():
            if not verdict.met and not verdict.reason:
                runs = ", ".join(str(run) for run in series.cells[label].runs)
                found.append(f"{series.module}: {series.operation}, {series.over} {label}, on {series.machine}: {runs} "
                             f"misses {verdict.sign} {verdict.bound}, and thresholds.json does not say why")
    return found
