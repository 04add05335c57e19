"""The command ``zarr-rs``: the command ``zarr`` of the Rust library, which the wheel brings.

>>> import subprocess, sys
>>> script = "import sys; from zarr_rust._command import main; sys.argv = ['zarr-rs', '--version']; sys.exit(main())"
>>> subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.startswith("zarr")
True
"""

from __future__ import annotations

import signal
import sys

from zarr_rust import _core


def main() -> int:
    """Runs the command with the arguments of this process, and gives its exit code."""
    # The interpreter would see Ctrl-C only when the command is done.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.command(["zarr-rs", *sys.argv[1:]])
