"""Small decks that the tests of `heddle tdse` share, and tests that begin with one of them."""

from tdse_command import TdseCommandTest

SMALL = """
[grid]
xmin = -6.0
xmax = 6.0
points = 61
kinetic = "fd4"
[potential]
charge = 1.0
softening = 1.0
[nuclei]
motion = "stretch"
[time]
step = 0.02
steps = 20
[propagator]
kind = "expm"
[output]
every = 4
state = true
"""
SMALL_BY_TAYLOR_SERIES = SMALL.replace('"fd4"', '"fd2"').replace('kind = "expm"', 'kind = "expm"\ndegree = 10')


class TdseTest(TdseCommandTest):
    def setUp(self):
        super().setUp()
        self.write("small.toml", SMALL)


class StudiesTest(TdseCommandTest):
    def setUp(self):
        super().setUp()
        self.write("small.toml", SMALL_BY_TAYLOR_SERIES)
