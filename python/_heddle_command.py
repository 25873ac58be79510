"""The script `heddle` of an environment: becomes the command of the package.

It is beside the package instead of in it, since importing heddle would load NumPy and the library on every rank.
"""

import importlib.util
import os
import signal
import sys

COMMAND = os.path.join(os.path.dirname(os.path.abspath(__file__)), "heddle", "_command", "bin", "heddle")


def main():
    # Python ignores it, and the command would inherit that: `heddle ... | head` would not end quietly.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # `heddle plot` takes the system's Python otherwise.
    if all(importlib.util.find_spec(module) for module in ("matplotlib", "h5py")):
        os.environ.setdefault("HEDDLE_PYTHON", sys.executable)
    try:
        os.execv(COMMAND, ["heddle", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"heddle: {COMMAND}: {error.strerror}")
