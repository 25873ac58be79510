"""The parts of perf/report.py."""
