"""Every kind of picture, as a reader sees it: nothing cut off or written over, no two series that look alike."""

import csv
import io
import itertools
import os
import sys
import unittest
from unittest import mock

from command import CommandTest

SCRIPTS = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", "src", "drivers", "plot"))
MANY = 24
LONG_NAME = " ".join(3 * ["a device whose vendor is fond of words, with 132 multiprocessors and 141 GB of memory"])


def modules_missing():
    try:
        import h5py  # noqa: F401
        import matplotlib
    except ImportError:
        return True
    return matplotlib.__version_info__ < (3, 6)


def drawn(script, *arguments):
    """The figure that a script draws, and the boxes of what is written on it."""
    import matplotlib.text

    if SCRIPTS not in sys.path:
        sys.path.insert(0, SCRIPTS)
    module = __import__(script)
    from matplotlib.figure import Figure

    found, boxes = [], []
    plain_savefig, plain_draw = Figure.savefig, matplotlib.text.Text.draw

    def write(text, renderer):
        plain_draw(text, renderer)
        if text.get_visible() and text.get_text().strip():
            # The box of an annotation without its arrow.
            boxes.append((text.get_text(), matplotlib.text.Text.get_window_extent(text, renderer)))

    def savefig(figure, target, **more):
        with mock.patch.object(matplotlib.text.Text, "draw", write):
            plain_savefig(figure, io.BytesIO(), **more)
        found.append(figure)

    with mock.patch.object(Figure, "savefig", savefig):
        module.main(*arguments)
    # A layout draws more than once.
    return found[0], list({(text, *box.extents): (text, box) for text, box in boxes}.values())


def overlap(one, other, slack=1.0):
    return (min(one.x1, other.x1) - max(one.x0, other.x0) > slack and
            min(one.y1, other.y1) - max(one.y0, other.y0) > slack)


def crosses(text, frame, slack=1.0):
    """Whether a box lies on the border of another: neither within nor beside it."""
    within = (frame.x0 - slack <= text.x0 and text.x1 <= frame.x1 + slack and
              frame.y0 - slack <= text.y0 and text.y1 <= frame.y1 + slack)
    return overlap(text, frame, slack) and not within


def series_of(axes):
    """The lines of a panel that show data; others mark a place on an axis."""
    return [line for line in axes.get_lines()
            if line.get_transform() == axes.transData and len(line.get_xdata()) and line.get_visible()]


@unittest.skipIf(modules_missing(), "no h5py, or no matplotlib 3.6")
class PicturesTest(CommandTest):
    def assert_readable(self, script, source, *more):
        figure, boxes = drawn(script, self.path(source), os.devnull, *more)
        self.assertTrue(boxes)
        whole = figure.bbox
        for text, box in boxes:
            self.assertTrue(whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1,
                            f"{text!r} is cut off: {box.extents} in {whole.extents}")
        for (text, box), (other, other_box) in itertools.combinations(boxes, 2):
            self.assertFalse(overlap(box, other_box), f"{text!r} is written over {other!r}")
        for axes in figure.axes:
            if axes.axison:
                frame = axes.get_window_extent()
                for text, box in boxes:
                    self.assertFalse(crosses(box, frame), f"{text!r} crosses the frame of {axes.get_title()!r}")
            self.assert_series_differ(axes)
        return figure

    def assert_series_differ(self, axes):
        lines = series_of(axes)
        looks = [(line.get_color(), str(line._unscaled_dash_pattern[1]) if line.get_linestyle() != "None"
                  else (line.get_marker(), line.get_markersize())) for line in lines]
        self.assertEqual(len(set(looks)), len(looks), f"{axes.get_title()!r}: series that look alike in {looks}")
        if lines:
            places = {float(x) for line in lines for x in line.get_xdata()}
            self.assertGreater(len(places), 1, f"{axes.get_title()!r}: dots above one place")

    def rewritten(self, name, change):
        """A table with its comments, and what change(rows) makes of its rows."""
        with open(self.path(name), encoding="utf-8", newline="") as file:
            lines = file.read().splitlines()
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        with open(self.path("changed.csv"), "w", encoding="utf-8", newline="") as file:
            file.write("".join(line + "\n" for line in lines if line.startswith("#")))
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(change(rows))
        return "changed.csv"

    def assert_readable_in_all_forms(self, script, name, size):
        """As it is, with a long name of the device, and with the least size of each operation alone."""
        self.assert_readable(script, name)
        self.assert_readable(script, self.rewritten(name, lambda rows: [row | {"device": LONG_NAME} for row in rows]))

        def smallest(rows):
            least = {}
            for row in rows:
                operation = row.get("operation")
                least[operation] = min(least.get(operation, int(row[size])), int(row[size]))
            return [row for row in rows if int(row[size]) == least[row.get("operation")]]

        self.assert_readable(script, self.rewritten(name, smallest))

    def assert_many_series_differ(self, script, name, key, *same):
        """Rows of one series, which are alike in the columns `same`, again and again under other names."""

        def multiplied(rows):
            first = [row for row in rows if all(row[column] == rows[0][column] for column in (key, *same))]
            return [row | {key: f"{row[key]} {k}"} for k in range(MANY) for row in first]

        figure = self.assert_readable(script, self.rewritten(name, multiplied))
        self.assertGreaterEqual(max(len(series_of(axes)) for axes in figure.axes), MANY)


class PicturesOfStudies(PicturesTest):
    def test_products(self):
        self.succeed("study", "gemm", "--sizes", "32,64", "--tiles", "16,32", "--repeat", 1, "-o", "one.csv")
        self.succeed("study", "gemm", "--sizes", "32,64", "--tiles", "16,32", "--repeat", 1, "--join", "one.csv",
                     "-o", "both.csv", ranks=2)
        self.assert_readable_in_all_forms("study_gemm", "both.csv", "size")
        self.assert_many_series_differ("study_gemm", "one.csv", "device", "placement")
        # Without transfers there is no panel of them, and a single tile has none, either.
        one_tile = self.rewritten("one.csv", lambda rows: [row for row in rows if row["tile"] == "32"])
        titles = [axes.get_title() for axes in self.assert_readable("study_gemm", one_tile).axes]
        self.assertEqual([title for title in titles if "hide" in title or "by tile" in title], [])

    def test_eigenvalues(self):
        self.succeed("study", "jacobi", "--largest", 32, "--repeat", 1, "-o", "s.csv")
        self.assert_readable_in_all_forms("study_jacobi", "s.csv", "order")
        self.assert_many_series_differ("study_jacobi", "s.csv", "method")

    def test_exact_sums(self):
        self.succeed("study", "exact", "--operations", "sum,gemv,lu", "--lengths", "100,10000,1000000", "--sizes", "16,32",
                     "--repeat", 1, "-o", "s.csv")
        self.assert_readable_in_all_forms("study_exact", "s.csv", "size")
        self.assert_readable("study_exact", self.rewritten("s.csv", lambda rows: [
            row | {"device": f"{row['device']} {k}"} for k in range(6) for row in rows]))

    def test_errors(self):
        self.succeed("study", "exact-errors", "--size", 10, "--conditions", "10,1e10,1e30,1e300", "-o", "s.csv")
        self.assert_readable_in_all_forms("study_exact_errors", "s.csv", "size")
        self.assert_readable("study_exact_errors", self.rewritten("s.csv", lambda rows: [
            row | {"device": f"{row['device']} {k}"} for k in range(3) for row in rows]))

    def test_faces(self):
        self.succeed("study", "faces", "--sizes", "2,4", "--sort", "radix,merge", "--repeat", 1, "-o", "s.csv")
        self.assert_readable_in_all_forms("study_faces", "s.csv", "cells")
        threads = self.rewritten("s.csv", lambda rows: [row | {"threads": str(k)} for k in (1, 2, 16) for row in rows])
        self.assert_readable("study_faces", threads)

    def test_transposes(self):
        self.succeed("study", "transpose", "--rows", 40, "--columns", 30, "--largest", 16, "--repeat", 1, "-o", "s.csv")
        self.assert_readable_in_all_forms("study_transpose", "s.csv", "rows")

    def test_predictions(self):
        self.succeed("predict", "gemm", "--size", "16384", "--gpus-per-node", "64", "--sweep", "-o", "s.csv")
        self.assert_readable("predict", "s.csv")
        self.assert_readable("predict", self.rewritten("s.csv", lambda rows: [
            row for row in rows if row["ranks"] == rows[0]["ranks"]]))


class PicturesOfRuns(PicturesTest):
    def run_of(self, deck, *settings):
        words = [word for setting in settings for word in ("--set", setting)]
        self.succeed("tdse", deck, "--no-progress", "--force", "--output", "run.h5", *words)
        return "run.h5"

    def panels(self, *arguments):
        return [axes.get_ylabel() for axes in self.assert_readable("plot", self.run_of(*arguments)).axes]

    def test_runs(self):
        mean = r"$\langle x \rangle$, dipole"
        # A deck that is symmetric in x: nothing moves, and no panel says so.
        self.assertNotIn(mean, self.panels("h2plus", "time.steps=40"))
        self.assertIn(mean, self.panels("harmonic-coherent", "time.steps=40", f"output.states={MANY}"))
        self.assertEqual(len(self.panels("h2plus", "time.steps=0")), 1)

    def test_pulses(self):
        figure = self.assert_readable("plot", self.run_of("h2plus-laser", "time.steps=150", f"output.states={MANY}"))
        written = [text.get_text() for axes in figure.axes for text in axes.texts]
        self.assertIn(r"outside |x| $\leq$ 20 bohr", written)
        self.assertIn("level without the field", written)
        self.assertFalse([text for text in written if "H(t)" in text])

    def test_levels(self):
        for count in (1, 6, MANY):
            self.succeed("tdse", "h2plus-stretch", "--eigen", count, "--output", "levels.csv")
            figure = self.assert_readable("tdse_levels", "levels.csv")
            self.assertEqual(len(series_of(figure.axes[0])), count + 1)

    def test_equal_curves_are_both_seen(self):
        self.succeed("tdse", "h2plus-stretch", "--eigen", 4, "--output", "levels.csv")
        _, *levels = series_of(self.assert_readable("tdse_levels", "levels.csv").axes[0])
        # The lower level of each pair, split by tunnelling, is drawn first, and wider.
        for lower, upper in (levels[:2], levels[2:]):
            self.assertGreater(lower.get_linewidth(), upper.get_linewidth() + 1)

    def test_scans(self):
        for values in ("0.2:1.2:0.5", "1"):
            self.succeed("tdse", "h2plus", "--set", "time.steps=20", "--scan", f"nuclei.omega={values}", "--no-progress",
                         "--force", "--output", "scan.h5")
            figure = self.assert_readable("tdse_scan", "scan.h5")
            self.assertFalse([axes for axes in figure.axes if "left at the end" in axes.get_title()])

    def test_scans_of_a_pulse(self):
        # Curves of a few spectra, a map of many, one value; the axis of values that rise by factors is logarithmic.
        for values, scale in (("1e13,1e14,1e15", "log"), ("1e14:8e14:1e14", "linear"), ("1e14", "log")):
            self.succeed("tdse", "h2plus-laser", "--set", "time.steps=60", "--set", "output.states=3", "--scan",
                         f"pulse.1.intensity={values}", "--no-progress", "--force", "--output", "scan.h5")
            figure = self.assert_readable("tdse_scan", "scan.h5")
            lost, = (axes for axes in figure.axes if "left at the end" in axes.get_title())
            self.assertEqual(lost.get_xscale(), scale)
            self.assertIn("W/cm$^2$", lost.get_title() if values == "1e14" else lost.get_xlabel())
            self.assertTrue([axes for axes in figure.axes if axes.get_title().startswith("harmonic spectrum")])

    def test_snapshots(self):
        self.run_of("h2plus", "time.steps=40", "output.state=true")
        for times in ("0", "0,5,10,15,20"):
            figure = self.assert_readable("tdse_snapshots", "run.h5", times)
            self.assertEqual({axes.get_yscale() for axes in figure.axes}, {"linear"})

    def test_snapshots_show_what_leaves(self):
        self.run_of("h2plus-laser", "time.steps=300", "output.state=true")
        for times in ("30", "0,10,20,30", "0,5,10,15,20"):
            figure = self.assert_readable("tdse_snapshots", "run.h5", times)
            boxes = [axes for axes in figure.axes if axes.get_yscale() == "log"]
            self.assertEqual(len(boxes), times.count(",") + 1)
            for axes in boxes:
                self.assertEqual(axes.get_xlim(), (-60, 60))
                self.assertIn("absorber", [text.get_text() for text in axes.texts])
        self.assertRegex(boxes[-1].get_title("left"), r"^ionised \d.*,  outside \d.*,  absorbed (0|\d.*)$")
        # A pulse without an absorber.
        self.run_of("h2plus-laser", "time.steps=20", "output.state=true", "absorber.kind=none", "output.states=0")
        figure = self.assert_readable("tdse_snapshots", "run.h5", "0,2")
        self.assertFalse([text for axes in figure.axes for text in axes.texts])


class PicturesOfOthers(PicturesTest):
    def test_terms(self):
        for words in (("--size", 1, "--norm", 8, "--times-minus-i"), ("--size", 4, "--norm", 0)):
            self.succeed("expm", *words, "--method", "taylor", "--degree", 40, "--terms", "--terms-file", "terms.csv")
            self.assert_readable("expm_terms", "terms.csv")

    def test_self_consistency(self):
        self.succeed("eig", "--scf", "--size", 60, "-o", "scf.csv")
        self.assert_readable("eig_scf", "scf.csv")

    def test_timelines(self):
        for ranks, words in ((1, ()), (4, ("--place-a", "rank:2", "--place-c", "rank:0")),
                             (2, ("--rows", 123456, "--columns", 3, "--inner", 2, "--scalar", "complex-double"))):
            size = () if "--rows" in words else ("--size", 64)
            self.succeed("gemm", *size, *words, "--trace", "trace.json", ranks=ranks)
            self.assert_readable("gemm_trace", "trace.json")


if __name__ == "__main__":
    unittest.main()
