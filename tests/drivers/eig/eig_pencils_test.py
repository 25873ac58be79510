"""heddle eig --overlap: pencils H C = S C diag(w)."""

import math
import random
import unittest

from command import product, random_matrix, read_market, transpose, write_market
from eig_support import THESIS, EigenTest, hermitian, read_text


class Pencils(EigenTest):
    def test_pencils(self):
        """H C = S C diag(w), real and complex: the definition, and what comes with it."""
        rng = random.Random(5)
        n = 8
        for is_complex in (False, True):
            H = hermitian(rng, n, is_complex)
            basis = random_matrix(rng, n, n, is_complex)
            S = product(transpose(basis, conjugate=True), basis)
            for i in range(n):
                S[i][i] += 1.0
            write_market(self.path("H.mtx"), H)
            write_market(self.path("S.mtx"), S)
            report = self.succeed("eig", "--input", "H.mtx", "--overlap", "S.mtx", "--vectors", "C.mtx")
            results = report["results"]
            values = results["eigenvalues"]
            self.assertEqual(values, sorted(values))
            C = read_market(self.path("C.mtx"))
            right = [[sc * w for sc, w in zip(row, values)] for row in product(S, C)]
            self.assert_close(product(H, C), right, 1e-12)
            identity = [[float(i == j) for j in range(n)] for i in range(n)]
            self.assert_close(product(transpose(C, conjugate=True), product(S, C)), identity, 1e-12)
            self.assertEqual(set(report["checks"]), {"residual", "orthogonality"})
            self.assertEqual(report["inputs"]["overlap"], "S.mtx")
            self.assertTrue(0 < results["least_pivot"] <= 1 and results["growth"] > 0)
            self.assertIn("overlap: the least pivot has ",
                          self.run_command("eig", "--input", "H.mtx", "--overlap", "S.mtx").output)
        # A complex overlap of a real matrix; all four types; a generated matrix; of one row.
        self.write("I.txt", "8\n" + "\n".join(" ".join(str(float(i == j)) for j in range(n)) for i in range(n)))
        report = self.succeed("eig", "--input", "I.txt", "--overlap", "S.mtx")
        self.assertEqual(report["inputs"]["scalar"], "complex-double")
        self.assertEqual(report["results"]["accuracy"], "relative")
        for scalar in ("float", "double", "complex-float", "complex-double"):
            pencil = self.succeed("eig", "--generate", "thesis", "--size", n, "--overlap", "I.txt", "--scalar", scalar)
            alone = self.succeed("eig", "--generate", "thesis", "--size", n, "--scalar", scalar)
            self.assert_values(pencil["results"]["eigenvalues"], alone["results"]["eigenvalues"],
                               1e-5 if "float" in scalar else 1e-13)
        self.write("six.txt", "1\n6\n")
        self.write("two.txt", "1\n2\n")
        results = self.succeed("eig", "--input", "six.txt", "--overlap", "two.txt", "--vectors", "c.txt")["results"]
        self.assert_values(results["eigenvalues"], [3.0])
        self.assert_values([abs(read_text(self.path("c.txt"))[0][0])], [math.sqrt(0.5)])

    def test_small_eigenvalues_of_pencils(self):
        """D A D and D B D have the eigenvalues of A and B, whatever D is; and H graded alone has small ones."""
        d = [1.0, 1e-20, 1e30]
        A, B = [[2, 1, 0], [1, 3, 1], [0, 1, 4]], [[2, 1, 0], [1, 2, 1], [0, 1, 2]]
        for name, rows, by in (("A", A, [1] * 3), ("B", B, [1] * 3), ("DAD", A, d), ("DBD", B, d)):
            self.write(name + ".txt", "3\n" + "\n".join(" ".join(repr(x * by[i] * by[j]) for j, x in enumerate(row))
                                                        for i, row in enumerate(rows)))
        plain = self.succeed("eig", "--input", "A.txt", "--overlap", "B.txt")["results"]["eigenvalues"]
        scaled = self.succeed("eig", "--input", "DAD.txt", "--overlap", "DBD.txt")["results"]["eigenvalues"]
        self.assert_values(scaled, plain)
        # The products of the eigenvalues are det(A) / det(B) = 18 / 4, and that times det(D)^2 where A alone is graded.
        self.assertAlmostEqual(math.prod(plain) / 4.5, 1, delta=1e-14)
        graded = self.succeed("eig", "--input", "DAD.txt", "--overlap", "B.txt")["results"]["eigenvalues"]
        self.assertAlmostEqual(math.prod(graded) / 4.5e20, 1, delta=1e-13)

    def test_graded_pencils(self):
        """Eigenvalues far below the largest, beside overlaps of little pivots; and ordinary pencils that are not definite."""
        self.write("S.txt", "2\n1 0.9990234375\n0.9990234375 1\n")
        for name, b, d, least in (("H.txt", 1, "2.481541837659083e-24", 1.6543612251060553e-24),
                                  ("D.txt", 0, "8.271806125530277e-25", 8.271806125530277e-25)):
            self.write(name, f"2\n1.2089258196146292e+24 {b}\n{b} {d}\n")
            results = self.succeed("eig", "--input", name, "--overlap", "S.txt")["results"]
            self.assertEqual(results["accuracy"], "relative")
            self.assertAlmostEqual(results["eigenvalues"][0] / least, 1, delta=1e-14)
            self.assertAlmostEqual(results["eigenvalues"][1] / 6.19272e26, 1, delta=1e-5)
        self.write("H.txt", "2\n-1.03 1.52\n1.52 -1.52\n")
        self.write("S.txt", "2\n1 0.985\n0.985 1\n")
        for flags in ([], ["--method", "cyclic"], ["--accuracy", "norm"], ["--reproducible"], ["--scalar", "float"]):
            self.succeed("eig", "--input", "H.txt", "--overlap", "S.txt", *flags)

    def test_refused_pencils(self):
        self.write("m.txt", THESIS)
        self.write("one.txt", "3\n" + "1 1 1\n" * 3)
        self.refuse("eig", "--input", "m.txt", "--overlap", "one.txt",
                    message="S is not positive definite: pivot 1 of its Cholesky factorization")
        self.write("minus.txt", "3\n1 0 0\n0 -2 0\n0 0 1\n")
        self.refuse("eig", "--input", "m.txt", "--overlap", "minus.txt",
                    message=r"its diagonal element in row 1 \(counted from 0\) is -2; expected a positive number")
        self.write("small.txt", "2\n1 0\n0 1\n")
        self.refuse("eig", "--input", "m.txt", "--overlap", "small.txt", message="small.txt: is 2 x 2; expected 3 x 3")
        self.write("skew.txt", "3\n1 0 0\n0.5 1 0\n0 0 1\n")
        self.refuse("eig", "--input", "m.txt", "--overlap", "skew.txt", message=r"skew.txt: is not symmetric: element \(2, 1\)")
        self.refuse("eig", "--input", "m.txt", "--overlap", "m.txt", "--values-only", message="--overlap m.txt: is checked")
        self.refuse("eig", "--scf", "--overlap", "m.txt", message="--scf makes its own overlaps")
        self.refuse("eig", "--input", "m.txt", "--overlap", "m.txt", ranks=2, message="runs on one rank")
        self.refuse("eig", "--input", "m.txt", "--overlap", "m.txt", "--vectors", "m.txt", message="m.txt")


if __name__ == "__main__":
    unittest.main()
