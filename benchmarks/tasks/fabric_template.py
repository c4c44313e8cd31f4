"""One rendered file of 4 KiB, put in its place with Fabric: compare hashes, put, rename."""

import hashlib
import io
import os
import shlex
import sys
from pathlib import Path

# A script sees its own folder only.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import jinja2

from benchmarks.side_by_side.fabric_hosts import group

source = Path(__file__).with_name("settings.conf.j2").read_text()
content = jinja2.Template(source, keep_trailing_newline=True).render(
    version=os.environ["VERSION"], owner="host0"
)
wanted = hashlib.sha256(content.encode()).hexdigest()
dest = os.environ["DEST"]
place = shlex.quote(dest)
with group() as hosts:
    host = hosts[0]
    there = host.run(f"sha256sum {place} 2>/dev/null || true", hide=True, in_stream=False).stdout
    if there[:64] != wanted:
        host.put(io.BytesIO(content.encode()), f"{dest}.new")
        host.run(f"chmod 644 {place}.new && mv -f {place}.new {place}", hide=True, in_stream=False)
