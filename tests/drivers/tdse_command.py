"""What the tests of `heddle tdse` share."""

import h5py

from command import CommandTest


def datasets(path):
    """Every dataset of a file, as bytes with shape and type."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            found[name] = (item.shape, item.dtype.str, item[()].tobytes())

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


class TdseCommandTest(CommandTest):
    def tdse(self, *arguments, **options):
        """A run whose files may be those of an earlier one."""
        return self.succeed("tdse", *arguments, "--no-progress", "--force", **options)
