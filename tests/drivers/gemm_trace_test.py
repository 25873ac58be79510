"""heddle gemm --trace, and the picture that heddle plot makes of it."""

import json
import os
import re
import unittest

from command import CommandTest

KINDS = ["product", "receive", "send", "wait"]


def union(intervals):
    """The same set of times as disjoint intervals in order."""
    merged = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def common_length(some, others):
    return sum(max(0.0, min(one[1], other[1]) - max(one[0], other[0])) for one in some for other in others)


class Trace:
    """A trace file, whose form is checked as it is read."""

    def __init__(self, test, name):
        with open(test.path(name), encoding="utf-8") as file:
            trace = json.load(file, parse_constant=test.fail)
        self.about = trace["otherData"]
        self.ranks = {}
        self.lanes = {}
        self.events = []
        for event in trace["traceEvents"]:
            if event["ph"] == "M" and event["name"] == "process_name":
                test.assertNotIn(event["pid"], self.ranks)
                self.ranks[event["pid"]] = event["args"]["name"]
            elif event["ph"] == "M" and event["name"] == "thread_name":
                test.assertNotIn((event["pid"], event["tid"]), self.lanes)
                self.lanes[event["pid"], event["tid"]] = event["args"]["name"]
            elif event["ph"] == "X":
                self.events.append(event)
            else:
                test.assertIn(event["name"], ("process_sort_index", "thread_sort_index"))
        for event in self.events:
            test.assertIn(event["cat"], KINDS)
            test.assertRegex(self.lanes[event["pid"], event["tid"]], rf"^{event['cat']}s( [2-9]| [1-9]\d+)?$")
            test.assertGreaterEqual(event["ts"], 0)
            test.assertGreaterEqual(event["dur"], 0)
        for lane in self.lanes:
            on_lane = sorted((event["ts"], event["ts"] + event["dur"]) for event in self.events
                             if (event["pid"], event["tid"]) == lane)
            test.assertTrue(on_lane)
            for one, other in zip(on_lane, on_lane[1:]):
                test.assertLessEqual(one[1], other[0] + 1e-6, lane)

    def of(self, kind, rank=None):
        return [event for event in self.events if event["cat"] == kind and rank in (None, event["pid"])]

    def times(self, kind, rank):
        """When a rank did anything of a kind, in microseconds."""
        return union((event["ts"], event["ts"] + event["dur"]) for event in self.of(kind, rank) if event["dur"] > 0)


class GemmTrace(CommandTest):
    def test_on_one_rank_and_several(self):
        for ranks, placements in ((1, ()), (2, ()), (3, ("--place-a", "cyclic:16x16", "--beta", 1)),
                                  (4, ("--place-a", "rank:2", "--place-b", "rank:1", "--place-c", "rank:0"))):
            with self.subTest(ranks=ranks):
                report = self.succeed("gemm", "--size", 200, "--tile", 32, "--trace", "trace.json", *placements,
                                      ranks=ranks)
                trace = Trace(self, "trace.json")
                self.assertEqual(trace.ranks, {rank: f"rank {rank}" for rank in range(ranks)})
                self.check_products(trace, range(7))
                self.check_transfers(trace, ranks)
                # One clock, except for the time before and after the recording.
                end = max(event["ts"] + event["dur"] for event in trace.events) / 1e6
                self.assertLess(end, 1.1 * report["results"]["seconds"] + 0.01)
                self.check_shares(trace, report["results"], ranks)
                for key in ("scalar", "rows", "columns", "inner", "ranks", "place_a", "place_b", "place_c"):
                    self.assertEqual(trace.about[key], report["inputs"][key])
                for key in ("tile", "seconds", "gflops"):
                    self.assertEqual(trace.about[key], report["results"][key])

    def check_products(self, trace, bands):
        """Each tile is computed once, by one rank."""
        self.assertEqual(sorted(event["name"] for event in trace.of("product")),
                         sorted(f"tile {i},{j}" for i in bands for j in bands))
        for event in trace.of("product"):
            self.assertEqual(event["name"], f"tile {event['args']['row_band']},{event['args']['column_band']}")

    def check_transfers(self, trace, ranks):
        transfers = trace.of("receive") + trace.of("send")
        self.assertEqual(bool(trace.of("receive")), ranks > 1)
        self.assertEqual(bool(trace.of("send")), ranks > 1)
        for event in transfers:
            self.assertGreater(event["args"]["bytes"], 0)
            self.assertIn(event["args"]["peer"], set(range(ranks)) - {event["pid"]})
            way = "from" if event["cat"] == "receive" else "to"
            number = r" \d+" if event["cat"] == "receive" else r"(?: \d+)?"
            found = re.fullmatch(rf"(?:(A|B) band{number}|(C) tile \d+,\d+) {way} rank (\d+)", event["name"])
            self.assertTrue(found, event["name"])
            self.assertEqual((found[1] or found[2], int(found[3])), (event["args"]["operand"], event["args"]["peer"]))
            if event["dur"] > 0.1:
                self.assertAlmostEqual(event["args"]["GB/s"] * event["dur"] / event["args"]["bytes"], 1e-3, delta=1e-4)
        self.assertEqual(sum(event["args"]["bytes"] for event in trace.of("receive")),
                         sum(event["args"]["bytes"] for event in trace.of("send")))

    def check_shares(self, trace, results, ranks):
        """Check the hidden share in the report against the intervals."""
        received = hidden = 0.0
        for rank in range(ranks):
            transfers = trace.times("receive", rank)
            length = sum(end - begin for begin, end in transfers)
            covered = common_length(transfers, trace.times("product", rank))
            expected = covered / length if length > 0 else 1.0
            self.assertAlmostEqual(results["hidden_share_of_ranks"][rank], expected, delta=1e-3)
            received += length
            hidden += covered
        self.assertEqual(len(results["hidden_share_of_ranks"]), ranks)
        self.assertAlmostEqual(results["hidden_share"], hidden / received if received > 0 else 1.0, delta=1e-3)
        self.assertEqual(trace.about["hidden_share"], results["hidden_share"])
        self.assertEqual(trace.about["hidden_share_of_ranks"], results["hidden_share_of_ranks"])

    def test_what_it_says(self):
        result = self.run_command("gemm", "--size", 64, "--tile", 16, "--trace", "trace.json", ranks=2)
        self.assertRegex(result.output, r"(?m)^communication hidden: \d+\.\d % \(trace in trace\.json\)$")
        result = self.run_command("gemm", "--size", 64, "--trace", "trace.json")
        self.assertIn("communication hidden: nothing travelled (trace in trace.json)\n", result.output)
        result = self.run_command("gemm", "--size", 64, "--quiet", "--trace", "quiet.json")
        self.assertEqual((result.code, result.output, result.errors), (0, "", ""))
        Trace(self, "quiet.json")

    def test_without_it_nothing_is_said_of_it(self):
        report = self.succeed("gemm", "--size", 64, ranks=2)
        self.assertNotIn("hidden_share", report["results"])
        self.assertNotIn("communication hidden", self.run_command("gemm", "--size", 64).output)

    def test_of_repeats_the_fastest_and_of_a_sweep_the_chosen(self):
        report = self.succeed("gemm", "--size", 96, "--tile", 32, "--repeat", 4, "--trace", "trace.json", ranks=2)
        trace = Trace(self, "trace.json")
        self.check_products(trace, range(3))
        self.assertEqual(trace.about["seconds"], report["results"]["seconds"])
        report = self.succeed("gemm", "--size", 96, "--tile", 48, "--sweep", "--tiles", "24,96", "--trace", "trace.json",
                              ranks=2)
        trace = Trace(self, "trace.json")
        self.assertEqual((trace.about["tile"], report["results"]["tile"]), (48, 48))
        self.check_products(trace, range(2))

    def test_nothing_to_compute(self):
        for shape in ((0, 3, 2), (3, 2, 0), (0, 0, 0)):
            self.succeed("gemm", "--rows", shape[0], "--columns", shape[1], "--inner", shape[2], "--trace", "trace.json",
                         ranks=2)
            trace = Trace(self, "trace.json")
            self.assertEqual(sorted(trace.ranks), [0, 1])
            self.assertEqual(trace.of("product"), [])

    def test_a_file_that_cant_be_written_is_found_before_the_work(self):
        self.write("file", "")
        for target in ("none/trace.json", "file/trace.json"):
            for ranks in (1, 2):
                result = self.refuse("gemm", "--size", 4, "--trace", target, ranks=ranks,
                                     message=f"{target}: can't be written: ")
                self.assertEqual(result.output, "")
        self.refuse("gemm", "--size", 4, "--trace", ".", message="it is a folder")
        self.refuse("gemm", "--size", 4, "--trace", "", message="--trace: needs a file name")


class PlotTrace(CommandTest):
    def trace(self, *arguments, ranks=2):
        result = self.run_command("gemm", "--size", 96, "--tile", 16, "--trace", "trace.json", *arguments, ranks=ranks)
        self.assertEqual(result.code, 0, result.errors)
        with open(self.path("trace.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_makes_a_picture(self):
        try:
            import matplotlib  # Not everywhere.
        except ImportError:
            self.skipTest("no matplotlib")
        del matplotlib
        for ranks, arguments in ((1, ()), (2, ()), (4, ("--place-a", "rank:2", "--place-c", "rank:0")),
                                 (2, ("--scalar", "complex-float", "--beta", 1)), (2, ("--inner", 0, "--rows", 3))):
            self.trace(*arguments, ranks=ranks)
            result = self.run_command("plot", "trace.json")
            self.assertEqual((result.code, result.output, result.errors), (0, "wrote trace.png\n", ""))
            self.assert_picture("trace.png")
            os.remove(self.path("trace.png"))
        # By what it holds, not by its name.
        os.rename(self.path("trace.json"), self.path("trace.h5"))
        self.assertEqual(self.run_command("plot", "trace.h5", "--output", "picture.png").code, 0)
        self.assertTrue(os.path.exists(self.path("picture.png")))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "__pycache__")))

    def test_refuses_what_is_no_trace(self):
        trace = self.trace()
        whole = json.dumps(trace)
        self.write("cut.json", whole[:len(whole) // 2])
        self.refuse("plot", "cut.json", message="cut.json: is not readable JSON")
        self.succeed("gemm", "--size", 4)
        self.refuse("plot", "report.json", message="report.json: is not a trace that heddle gemm --trace wrote")
        self.refuse("plot", "trace.json", "--output", "none/trace.png", message="none/trace.png: can't be written: ")
        for spoil in (lambda t: t.clear(),
                      lambda t: t["otherData"].update(command="tune"),
                      lambda t: t["otherData"].pop("tile"),
                      lambda t: t["otherData"].update(hidden_share_of_ranks=[1.0]),
                      lambda t: t["traceEvents"].append({"ph": "X"}),
                      lambda t: t["traceEvents"].append({**t["traceEvents"][-1], "pid": 2}),
                      lambda t: t["traceEvents"].append({**t["traceEvents"][-1], "ts": "soon"})):
            spoiled = json.loads(whole)
            spoil(spoiled)
            self.write("spoiled.json", json.dumps(spoiled))
            self.refuse("plot", "spoiled.json", message="spoiled.json: is not a trace that heddle gemm")
        self.write("list.json", "[1, 2]\n")
        self.refuse("plot", "list.json", message="list.json: is not a trace")
        self.refuse("plot", "trace.json", environment={"HEDDLE_PYTHON": "/nonexistent/python"}, message="HEDDLE_PYTHON")
        # The scripts' word for one that is too old.
        self.write("old", "#!/bin/sh\nexit 5\n")
        os.chmod(self.path("old"), 0o755)
        self.refuse("plot", "trace.json", environment={"HEDDLE_PYTHON": self.path("old")}, message="matplotlib before 3.6")
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".png")], [])


if __name__ == "__main__":
    unittest.main()
