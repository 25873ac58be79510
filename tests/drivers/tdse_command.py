"""Code shared by the tests of `heddle tdse`."""

import os
import shutil

import h5py

from command import CommandTest


class Datasets(dict):
    """Arrays that assertEqual compares by names: unittest's diff of two dictionaries with so many bytes takes hours."""


def datasets(path):
    """Every dataset of a file, as bytes with shape and type."""
    found = Datasets()

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            found[name] = (item.shape, item.dtype.str, item[()].tobytes())

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


def plots():
    """Whether there is what the pictures need, and for films."""
    found = shutil.which("/usr/bin/python3") or "python3"
    return os.system(f"{os.environ.get('HEDDLE_PYTHON') or found} -c 'import matplotlib, PIL' 2>/dev/null") == 0


class TdseCommandTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.addTypeEqualityFunc(Datasets, self.assert_same_datasets)

    def assert_same_datasets(self, first, second, msg=None):
        names = [name for name in sorted(first.keys() | second.keys()) if first.get(name) != second.get(name)]
        if names:
            self.fail(self._formatMessage(msg, f"these datasets differ: {', '.join(names)}"))

    def tdse(self, *arguments, **options):
        """A run whose files may be those of an earlier one."""
        return self.succeed("tdse", *arguments, "--no-progress", "--force", **options)
