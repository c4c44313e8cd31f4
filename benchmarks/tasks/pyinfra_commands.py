"""`COUNT` trivial commands with pyinfra, an operation each."""

import os

from pyinfra.operations import server  # type: ignore[import-not-found]

for number in range(int(os.environ["COUNT"])):
    server.shell(name=f"true {number}", commands=["true"])
