"""heddle duplicates."""

import csv
import hashlib
import os
import random
import struct
import unittest

from command import CommandTest

ALGORITHMS = [("partition", "auto"), ("sort-by-id", "auto")] + [
    (algorithm, function) for algorithm in ("sort", "hash-fight") for function in ("xor", "fnv1a", "morton", "mixer")]
KEYS = {"keys", "words", "unique", "duplicated", "largest_group", "algorithm", "hash", "phases", "collisions",
        "iterations", "passes", "memory_bytes", "seconds", "sha256"}


def groups_of(keys):
    """Group of each key, first key and count of each group, in the plainest way."""
    numbers, group, first, count = {}, [], [], []
    for place, key in enumerate(keys):
        number = numbers.setdefault(tuple(key), len(numbers))
        if number == len(first):
            first.append(place)
            count.append(0)
        count[number] += 1
        group.append(number)
    return group, first, count


def digest_of(groups):
    digest = hashlib.sha256()
    for numbers in groups:
        digest.update(struct.pack(f"<{len(numbers)}q", *numbers))
    return digest.hexdigest()


def random_keys(count, words, distinct, seed):
    rng = random.Random(seed)
    chosen = [[rng.randint(-2**63, 2**63 - 1) if rng.random() < 0.5 else rng.randint(-3, 3) for _ in range(words)]
              for _ in range(distinct)]
    return [rng.choice(chosen) for _ in range(count)]


class Duplicates(CommandTest):
    def numbers(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return [int(line) for line in file]

    def write_keys(self, name, keys, separators=(" ",)):
        rng = random.Random(1)
        return self.write(name, "".join(
            "".join(str(word) + (rng.choice(separators) if place + 1 < len(key) else "\n")
                    for place, word in enumerate(key)) for key in keys))

    def test_files(self):
        for count, words, distinct in ((1, 1, 1), (500, 1, 100), (300, 3, 40), (200, 64, 60), (400, 2, 400)):
            keys = random_keys(count, words, distinct, count)
            self.write_keys("keys.txt", keys, (" ", ",", "\t", " , ", ",  ", "   "))
            group, first, count_of_each = groups_of(keys)
            with self.subTest(count=count, words=words):
                report = self.succeed("duplicates", "-i", "keys.txt", "-o", "u.csv", "--groups", "g.txt")
                results = report["results"]
                self.assertLessEqual(KEYS, set(results))
                self.assertEqual((results["keys"], results["words"], results["unique"]), (count, words, len(first)))
                self.assertEqual(results["duplicated"], sum(count for count in count_of_each if count > 1))
                self.assertEqual(results["largest_group"], max(count_of_each))
                self.assertEqual(results["sha256"], digest_of((group, first, count_of_each)))
                self.assertEqual(set(report["checks"]), {"misplaced", "split_groups"})
                self.assertEqual(self.numbers("g.txt"), group)
                with open(self.path("u.csv"), encoding="utf-8", newline="") as file:
                    rows = list(csv.DictReader(file))
                self.assertEqual([(int(row["group"]), int(row["first"]), int(row["count"])) for row in rows],
                                 list(zip(range(len(first)), first, count_of_each)))
                self.assertEqual([list(map(int, row["key"].split())) for row in rows], [keys[place] for place in first])

    def test_all_algorithms_agree(self):
        self.write_keys("keys.txt", random_keys(2000, 2, 300, 7))
        for source in (["-i", "keys.txt"], ["--size", 3000, "--distinct", 500, "--words", 4, "--seed", 2]):
            found = set()
            for algorithm, function in ALGORITHMS:
                results = self.succeed("duplicates", *source, "--algorithm", algorithm, "--hash-function", function, "--phases",
                                       "--repeat", 3)["results"]
                self.assertEqual((results["algorithm"], results["hash"]), (algorithm, function))
                self.assertGreater(len(results["phases"]), 1)
                found.add((results["sha256"], results["unique"], results["duplicated"], results["largest_group"]))
            for algorithm in ("sort", "sort-by-id"):
                for sort in ("radix", "merge"):
                    results = self.succeed("duplicates", *source, "--algorithm", algorithm, "--sort", sort)["results"]
                    self.assertEqual((results["algorithm"], results["sort"]), (algorithm, sort))
                    found.add((results["sha256"], results["unique"], results["duplicated"], results["largest_group"]))
            self.assertEqual(len(found), 1)
        self.refuse("duplicates", "--size", 9, "--sort", "quick", message="'quick': expected radix or merge")

    def test_generated(self):
        report = self.succeed("duplicates", "--size", 5000, "--distinct", 10, "-o", "u.csv", "--groups", "g.txt")
        results = report["results"]
        self.assertEqual((results["keys"], results["unique"], results["duplicated"]), (5000, 10, 5000))
        group = self.numbers("g.txt")
        self.assertEqual(digest_of(groups_of([[number] for number in group])), results["sha256"])
        with open(self.path("u.csv"), encoding="utf-8") as file:
            self.assertEqual(file.readline(), "group,first,count\n")
        self.assertEqual(self.succeed("duplicates", "--size", 5000)["inputs"]["distinct"], 2500)
        other = self.succeed("duplicates", "--size", 5000, "--distinct", 10, "--seed", 2)["results"]
        self.assertNotEqual(other["sha256"], results["sha256"])
        self.assertEqual(self.succeed("duplicates", "--size", 0)["results"]["unique"], 0)

    def test_several_passes(self):
        arguments = ["duplicates", "--size", 200000, "--words", 2]
        whole = self.succeed(*arguments)["results"]
        parts = self.succeed(*arguments, "--memory", "1M")["results"]
        self.assertEqual(whole["passes"], 1)
        self.assertGreater(parts["passes"], 1)
        self.assertEqual(parts["sha256"], whole["sha256"])

    def test_what_lines_may_look_like(self):
        self.write("keys.txt", " +1,-2 \r\n1 -2\r\n9223372036854775807\t-9223372036854775808")
        results = self.succeed("duplicates", "-i", "keys.txt", "-o", "u.csv")["results"]
        self.assertEqual((results["keys"], results["unique"]), (3, 2))
        with open(self.path("u.csv"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "group,first,count,key\n0,0,2,1 -2\n"
                             "1,2,1,9223372036854775807 -9223372036854775808\n")
        self.write("none.txt", "")
        self.assertEqual(self.succeed("duplicates", "-i", "none.txt", "-o", "u.csv", "--groups", "g.txt")["results"]["keys"],
                         0)
        self.assertEqual(self.numbers("g.txt"), [])

    def test_comments(self):
        self.write("keys.txt", "# keys: 9 9\n1 2 # the first\n  # 3\n3,4#\n1\t2")
        results = self.succeed("duplicates", "-i", "keys.txt", "--groups", "g.txt")["results"]
        self.assertEqual((results["keys"], results["words"], results["unique"]), (3, 2, 2))
        self.assertEqual(self.numbers("g.txt"), [0, 1, 0])
        self.write("keys.txt", "# nothing else")
        self.assertEqual(self.succeed("duplicates", "-i", "keys.txt")["results"]["keys"], 0)

    def test_words_of_64_bits_without_a_sign(self):
        # -1 and 2^64 - 1 have the same last 64 bits, but are different integers.
        top = 2**64
        for name, choice in (("unsigned", (0, 1, 2**63 - 1, 2**63, top - 2, top - 1)),
                             ("mixed", (0, -1, -2, -2**63, 2**63 - 1, 2**63, top - 2, top - 1))):
            for words in (1, 2, 64):
                rng = random.Random(words)
                chosen = [[rng.choice(choice) for _ in range(words)] for _ in range(40)]
                keys = [rng.choice(chosen) for _ in range(300)]
                # Keys that are equal but for a word's 2^64.
                keys += [[word - top if word >= 2**63 and name == "mixed" else word for word in key] for key in chosen]
                self.write_keys("keys.txt", keys)
                group, first, count = groups_of(keys)
                for algorithm, function in ALGORITHMS if words == 2 else ALGORITHMS[:1]:
                    with self.subTest(name=name, words=words, algorithm=algorithm, hash=function):
                        results = self.succeed("duplicates", "-i", "keys.txt", "-o", "u.csv", "--groups", "g.txt",
                                               "--algorithm", algorithm, "--hash-function", function)["results"]
                        self.assertEqual((results["words"], results["unique"]), (words, len(first)))
                        self.assertEqual(results["sha256"], digest_of((group, first, count)))
                        self.assertEqual(self.numbers("g.txt"), group)
                        with open(self.path("u.csv"), encoding="utf-8", newline="") as file:
                            rows = list(csv.DictReader(file))
                        self.assertEqual([list(map(int, row["key"].split())) for row in rows],
                                         [keys[place] for place in first])

    def test_malformed_files(self):
        for text, message in (("1 2\n3\n", "line 2: 1 word, where line 1 has 2"),
                              ("1\n2\n3 4\n", "line 3: 2 words, where line 1 has 1"),
                              ("1\n\n2\n", "line 2: is empty"),
                              ("# one\n1 2\n3\n", "line 3: 1 word, where line 2 has 2"),
                              ("1, # 2\n", "line 1: expected an integer, found '#'"),
                              ("1\n2\n\n", "line 3: is empty"),
                              ("1\n2.5\n", "line 2: expected an integer, found '2.5'"),
                              ("1\ntwo\n", "line 2: expected an integer, found 'two'"),
                              ("1,,2\n", "line 1: expected an integer, found ','"),
                              (",1\n", "line 1: expected an integer, found ','"),
                              ("5\n1,\n", "line 2: expected an integer, found the end of the line"),
                              ("1 +-2\n", r"line 1: expected an integer, found '\+-2'"),
                              ("1\n18446744073709551616\n", "line 2: '18446744073709551616' is beyond 64 bits"),
                              ("1\n-9223372036854775809\n", "line 2: '-9223372036854775809' is beyond 64 bits"),
                              ("9223372036854775808x\n", "line 1: expected an integer, found '9223372036854775808x'"),
                              (" ".join("1" * 65) + "\n", "line 1: 65 words; expected at most 64"),
                              ("1\n\x00\x7f\n", r"line 2: expected an integer, found '\?\?'")):
            with self.subTest(text):
                self.refuse("duplicates", "-i", self.write("keys.txt", text), "-o", "u.csv",
                            message=r"keys\.txt, " + message)
        self.assertFalse(os.path.exists(self.path("u.csv")))

    def test_refusals(self):
        self.refuse("duplicates", message="--input, .*--size")
        self.write("keys.txt", "1\n")
        self.refuse("duplicates", "-i", "keys.txt", "--size", 3, message="not both")
        for option in ("--words", "--distinct", "--seed"):
            self.refuse("duplicates", "-i", "keys.txt", option, 2, message=f"{option} requires --size")
        self.refuse("duplicates", "-i", "none.txt", message="none.txt: can't be opened")
        self.refuse("duplicates", "-i", ".", message=r"\.: can't be read")
        self.refuse("duplicates", "-i", "keys.txt", "-o", "none/u.csv", message="none/u.csv: can't be written")
        self.refuse("duplicates", "-i", "keys.txt", "--groups", "none/g.txt", message="none/g.txt: can't be written")
        self.refuse("duplicates", "-i", "keys.txt", "--algorithm", "magic", message="'magic': expected auto, partition")
        self.refuse("duplicates", "-i", "keys.txt", "--hash-function", "md5", message="'md5': expected auto, xor")
        self.refuse("duplicates", "-i", "keys.txt", "--memory", "lots", message="--memory: .*expected bytes")
        self.refuse("duplicates", "--size", -1, message="--size")
        self.refuse("duplicates", "--size", 9, "--distinct", 0, message="--distinct")
        self.refuse("duplicates", "--size", 9, "--words", 65, message="--words 65: expected at most 64")
        self.refuse("duplicates", "-i", "keys.txt", ranks=2, message="one rank")
        self.refuse("duplicates", "-i", "keys.txt", "-o", "u.csv", "--groups", "./u.csv",
                    message="--output and --groups both write ./u.csv")
        self.refuse("duplicates", "-i", "keys.txt", "--groups", "u.csv", "--json", "u.csv",
                    message="--json and --groups both write u.csv")
        self.assertFalse(os.path.exists(self.path("u.csv")))


if __name__ == "__main__":
    unittest.main()
