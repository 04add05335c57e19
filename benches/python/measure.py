"""One measurement, in a process of its own: measure.py PEER OPERATION SOURCE TARGET. Prints it as a line of JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
import zlib
from pathlib import Path

import numpy as np
from peers import Absent, peer


def memory(name: str) -> float:
    """MiB of this process, now (VmRSS) or at most since it was last asked to forget (VmHWM)."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith(f"{name}:"))


def main(name: str, operation: str, source: str, target: str) -> dict[str, object]:
    try:
        library = peer(name)
    except Absent as error:
        return {"absent": str(error)}
    data = np.load(f"{source}.npy") if operation in ("write", "round trip") else None
    # Beside the interpreter, the library and the data that is written.
    start = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    before = resource.getrusage(resource.RUSAGE_SELF)
    begun = time.perf_counter()
    if operation == "open":
        names = json.loads((Path(source) / "names.json").read_text())
        result: object = library.open_all(source, names)
    else:
        read = None
        if operation != "read":
            library.write(library.open(target), data)
        if operation != "write":
            read = library.read(library.open(source if operation == "read" else target))
    taken = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_SELF)
    peak = memory("VmHWM")
    if operation != "open":
        # Written elements are read by another process.
        result = None if read is None else zlib.crc32(np.ascontiguousarray(read))
    return {
        "seconds": taken,
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "mib": peak - start,
        "result": result,
    }


print(json.dumps(main(*sys.argv[1:])))
