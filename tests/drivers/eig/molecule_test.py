"""heddle eig --scf --molecule: molecules of files, their energies, matrices and refusals."""

import unittest

from command import CommandTest, read_market

HELIUM = "He 0 0 0\n"
HYDROGEN_MOLECULE = "# bond of equilibrium\nH 0 0 0\nH 0 0 1.4\n"


class Molecules(CommandTest):
    def solve(self, text, *arguments):
        self.write("molecule.txt", text)
        return self.succeed("eig", "--scf", "--molecule", "molecule.txt", *arguments)

    def refuse_file(self, text, message, *arguments, code=2):
        self.write("molecule.txt", text)
        self.refuse("eig", "--scf", "--molecule", "molecule.txt", *arguments, code=code, message=message)

    def test_hartree_fock_of_helium(self):
        report = self.solve(HELIUM, "--functional", "hf", "--angular", 0)
        results = report["results"]
        self.assertAlmostEqual(results["energy"], -2.861680, delta=1e-4)
        self.assertAlmostEqual(results["virial"], 2, delta=1e-3)
        self.assertAlmostEqual(results["eigenvalues"][0], -0.917956, delta=1e-4)
        self.assertAlmostEqual(sum(results["energies"].values()), 2 * results["energy"], delta=1e-10)
        self.assertEqual((report["inputs"]["electrons"], report["inputs"]["dimensions"]), ([1, 1], 3))
        self.assertTrue(results["converged"])

    def test_open_shells_and_a_local_functional(self):
        report = self.solve("1 0 0 0\n", "--functional", "lda-vwn", "--angular", 0)
        # NIST's atomic reference data, LSD.
        self.assertAlmostEqual(report["results"]["energy"], -0.478671, delta=1e-4)
        self.assertEqual(report["inputs"]["electrons"], [1, 0])
        self.assertIn("electrons_on_grid", report["checks"])
        self.assertGreater(report["results"]["eigenvalues_down"][0], report["results"]["eigenvalues"][0])

    def test_local_functionals_of_molecules(self):
        # docs/notes/molecules.md says how these were found by other programs.
        three = self.solve(HYDROGEN_MOLECULE, "--functional", "lda-pw92")["results"]
        self.assertAlmostEqual(three["energy"], -1.137319, delta=1e-4)
        self.assertAlmostEqual(three["eigenvalues"][0], -0.377295, delta=1e-4)
        one = self.solve("Li 0\nH 3.015\n", "--functional", "lda-csc")["results"]
        self.assertAlmostEqual(one["energy"], -4.915678, delta=1e-5)
        ion = self.solve("charge 1\nLi 0\nH 3.015\n", "--functional", "lda-csc", "--size", 128)["results"]
        self.assertAlmostEqual(ion["energy"], -4.521093, delta=1e-5)

    def test_gradients_and_hybrids(self):
        # By PySCF in the same functions, with spheres of 974 points at 150 radii.
        functions = "".join(f"shell {atom} {kind} {exponent}\n" for atom, kinds in (
            ("H", {"s": (40, 9, 2.4, .7, .2), "p": (1.6, .45), "d": (.9,)}),
            ("O", {"s": (8000, 1200, 270, 75, 24, 8, 2.4, .8, .25), "p": (35, 8, 2.5, .8, .25), "d": (2.3, .6)}))
            for kind, exponents in kinds.items() for exponent in exponents)
        hydroxyl = "O 0 0 0\nH 0 0.4 1.8\n" + functions
        self.write("molecule.txt", hydroxyl)
        first = self.run_command("eig", "--scf", "--molecule", "molecule.txt", "--functional", "pbe")
        if first.code == 2 and "which this build lacks" in first.errors:
            self.skipTest("this build has no libxc")
        for functional, energy, level in (("pbe", -75.669083234, -18.798199), ("b3lyp", -75.756115391, -19.181868),
                                          ("gga_x_b88+gga_c_lyp", -75.741708747, -18.821647)):
            results = self.solve(hydroxyl, "--functional", functional)["results"]
            self.assertAlmostEqual(results["energy"], energy, delta=2e-6)
            self.assertAlmostEqual(results["eigenvalues"][0], level, delta=2e-5)
        for functional, energy in (("pbe0", -1.166165990), ("blyp", -1.166628349)):
            report = self.solve("H 0 0 0\nH 0 0 1.4\n" + functions[:functions.index("shell O")], "--functional", functional)
            self.assertAlmostEqual(report["results"]["energy"], energy, delta=1e-7)
        self.refuse_file(HELIUM, "is of more than densities", "--functional", "mgga_x_tpss")
        self.refuse_file("He 0\n", "no functional of one dimension", "--functional", "pbe")

    def test_one_dimension(self):
        # The four digits that are commonly given for a softening of 1.
        self.assertAlmostEqual(self.solve("He 0\n", "--functional", "hf")["results"]["energy"], -2.2242, delta=5e-5)
        one = self.solve("H 0\n", "--functional", "hf", "--size", 128)
        self.assertAlmostEqual(one["results"]["energy"], -0.6698, delta=5e-5)
        self.assertEqual((one["inputs"]["size"], one["inputs"]["dimensions"]), (128, 1))

    def test_interactions_that_are_not_coulombs_have_no_virial(self):
        self.assertNotIn("virial", self.solve("He 0\n", "--functional", "hf", "--size", 64)["results"])

    def test_pictures(self):
        self.need("matplotlib")
        self.write("two.txt", HYDROGEN_MOLECULE)
        self.write("one.txt", "H 0\n")
        for name, more in (("two.txt", ("--angular", 1)), ("one.txt", ("--functional", "hf", "--size", 64))):
            self.succeed("eig", "--scf", "--molecule", name, *more, "--plot", "levels.png")
            self.assert_picture("levels.png")
            self.assertEqual(self.run_command("plot", "eig_scf.csv", "-o", "again.png").code, 0)
            self.assert_picture("again.png")
        self.refuse("eig", "--scf", "--molecule", "one.txt", "--plot", "one.txt", message="would replace")
        self.refuse("eig", "--scf", "--molecule", "one.txt", "--plot", "a.csv", "-o", "a.csv", message="both write")

    def test_levels_that_change_places(self):
        self.refuse_file("C 0 0 0\n", "levels 3 and 4 are .* apart, .*'multiplicity 3'", "--iterations", 30, "--angles", 10,
                         "--radii", 30, "--ratio", 3, code=1)
        report = self.solve("multiplicity 3\nC 0 0 0\n", "--angles", 10, "--radii", 30, "--ratio", 3)
        self.assertTrue(report["results"]["converged"])
        self.assertLess(abs(report["times"]["integrals"] + report["times"]["fields"] + report["results"]["seconds"]
                            - report["times"]["total"]), 1.0)

    def test_units_charge_and_multiplicity(self):
        bohr = self.solve(HYDROGEN_MOLECULE, "--functional", "hf", "--angular", 1, "--ratio", 3)
        angstrom = self.solve("units angstrom\nH 0 0 0\nH 0 0 0.7408480952642\n", "--functional", "hf", "--angular", 1,
                              "--ratio", 3)
        self.assertAlmostEqual(bohr["results"]["energy"], angstrom["results"]["energy"], delta=1e-9)
        ion = self.solve("charge 1\n" + HYDROGEN_MOLECULE, "--functional", "hf", "--angular", 1, "--ratio", 3)
        self.assertEqual(ion["inputs"]["electrons"], [1, 0])
        triplet = self.solve("multiplicity 3\n" + HYDROGEN_MOLECULE, "--functional", "hf", "--angular", 1, "--ratio", 3)
        self.assertAlmostEqual(triplet["results"]["spin_squared"], 2, delta=1e-8)
        self.assertGreater(triplet["results"]["energy"], bohr["results"]["energy"])

    def test_without_extrapolation_the_matrix_is_mixed(self):
        helium = (HELIUM, "--functional", "hf", "--angular", 0, "--ratio", 3)
        extrapolated = self.solve(*helium)["results"]
        found = [self.solve(*helium, "--history", 1, "--mixing", share)["results"] for share in (0.9, 0.4)]
        for results in found:
            self.assertAlmostEqual(results["energy"], extrapolated["energy"], delta=1e-10)
        self.assertGreater(found[1]["iterations"], found[0]["iterations"])

    def test_a_basis_of_the_file(self):
        # STO-3G of hydrogen: W. J. Hehre, R. F. Stewart, J. A. Pople, J. Chem. Phys. 51, 2657 (1969); the energy is that of
        # A. Szabo, N. S. Ostlund, Modern Quantum Chemistry (Dover, 1996), section 3.5.2.
        shell = "shell H s 3.425250914 0.1543289673 0.6239137298 0.5353281423 0.1688554040 0.4446345422\n"
        report = self.solve(HYDROGEN_MOLECULE + shell, "--functional", "hf")
        self.assertEqual(report["inputs"]["size"], 2)
        self.assertAlmostEqual(report["results"]["energy"], -1.1167, delta=5e-5)

    def test_matrices_are_those_that_were_solved(self):
        # Two functions that mirror each other: the levels are (H_11 + H_12)/(1 + S_12) and (H_11 - H_12)/(1 - S_12).
        report = self.solve(HYDROGEN_MOLECULE + "shell H s 0.4\n", "--functional", "hf", "--save", "H.mtx",
                            "--save-overlap", "S.mtx")
        H = read_market(self.path("H.mtx"))
        S = read_market(self.path("S.mtx"))
        self.assertAlmostEqual(S[0][0], 1, delta=1e-14)
        levels = [(H[0][0] + H[0][1]) / (1 + S[0][1]), (H[0][0] - H[0][1]) / (1 - S[0][1])]
        self.assert_close([report["results"]["eigenvalues"]], [levels], 1e-12)

    def test_each_spin_has_its_matrix(self):
        report = self.solve("Li 0\n", "--functional", "hf", "--size", 96, "--save", "up.mtx", "--save-down", "down.mtx")
        for name, key in (("up.mtx", "eigenvalues"), ("down.mtx", "eigenvalues_down")):
            found = self.succeed("eig", "--input", name)["results"]["eigenvalues"]
            self.assert_close([found], [report["results"][key]], 1e-11)
        self.assertGreater(report["results"]["eigenvalues_down"][1], report["results"]["eigenvalues"][1] + 1e-3)

    def test_bad_files_are_refused(self):
        self.refuse_file("", "there is no atom")
        self.refuse_file("H 0 0\n", "line 1: an atom with 2 coordinates; expected three, or one")
        self.refuse_file("# one\nXx 0 0 0\n", "line 2: 'Xx': expected an element")
        self.refuse_file("H 0 0 zero\n", "line 1: 'zero': expected a finite number")
        self.refuse_file("H 0 0 nan\n", "line 1: 'nan': expected a finite number")
        self.refuse_file("-1 0 0 0\n", "line 1: a nucleus of charge -1; expected a positive number")
        self.refuse_file("H 0 0 1\nHe 0 0 1\n", "line 2: a nucleus in the place of that of line 1")
        self.refuse_file("H 0 0 1\nHe 0\n", "line 2: an atom with 1 coordinate; the first has 3")
        self.refuse_file("H 0 0 0\nH 0 0 0.00048828125\n", "nuclei 1 and 2 are 0.00048828125 bohr apart; expected at least")
        self.refuse_file("H 0 0 0\ncharge half\n", "line 2: expected: charge and a whole number")
        self.refuse_file("H 0 0 0\nunits feet\n", "line 2: expected: units bohr, or angstrom")
        self.refuse_file("H 0 0 0\nshell He s 1\n", "no shell is for this atom")
        self.refuse_file("H 0 0 0\nshell H h 1\n", "line 2: a shell 'h'; expected s, p, d, f or g")
        self.refuse_file("H 0 0 0\nshell H s -1\n", "line 2: an exponent of -1; expected a positive number")
        self.refuse_file("H 0 0 0\nshell H s 1 1 2\n", "line 2: 3 numbers of a contracted shell; expected pairs")
        self.refuse_file("H 0 0 0\nmultiplicity 3\n", "a multiplicity of 3 for 1 electron")
        self.refuse_file("H 0 0 0\ncharge 1\n", "leave 0 electrons; expected at least one")
        self.refuse_file("H 0 0 0\n", "closed with 1 electron of spin up and 0 of spin down", "--shells", "closed")
        self.refuse("eig", "--scf", "--molecule", "none.txt", message="none.txt: cannot be read")

    def test_bad_options_are_refused(self):
        self.refuse_file("He 0\n", "'lda-pz' is no functional of one dimension", "--functional", "lda-pz")
        self.refuse_file(HELIUM, "lda-csc is for one dimension", "--functional", "lda-csc")
        self.refuse_file(HELIUM, "both spins have one matrix", "--save", "H.mtx", "--save-down", "d.mtx")
        self.refuse_file("He 0\n", "has no overlaps", "--functional", "hf", "--save-overlap", "S.mtx")
        self.refuse_file(HELIUM, "a ratio of exponents of 1", "--ratio", 1)
        self.refuse("eig", "--molecule", "molecule.txt", "--generate", "random", "--size", 3, message="--molecule")

    def test_a_field_that_does_not_converge_says_so(self):
        self.refuse_file(HELIUM, "did not converge in 2 iterations", "--functional", "hf", "--iterations", 2, code=1)


if __name__ == "__main__":
    unittest.main()
