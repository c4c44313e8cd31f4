"""One rendered file of 4 KiB, put in its place by pyinfra."""

import os
from pathlib import Path

from pyinfra.operations import files  # type: ignore[import-not-found]

files.template(
    src=str(Path(__file__).with_name("settings.conf.j2")),
    dest=os.environ["DEST"],
    mode="0644",
    version=os.environ["VERSION"],
    owner="host0",
)
