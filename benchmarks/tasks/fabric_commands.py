"""`COUNT` trivial commands with Fabric's run(), one host or many at once."""

import os
import sys
from pathlib import Path

# A script sees its own folder only.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.side_by_side.fabric_hosts import group

with group() as hosts:
    for _ in range(int(os.environ["COUNT"])):
        hosts.run("true", hide=True, in_stream=False)
