"""From what the install script said to what Ansible's `copy` and `template` return."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from relight.core.outcome import Diff, Outcome
from relight.core.posix.answers import attributes


def outcome(
    said: Mapping[str, str], after: bytes, source: str, *, check: bool, remote: bool = False
) -> Outcome:
    """Return the outcome; `after` is the content that was sent, for the diff."""
    dest = said.get("dest", "")
    if "error" in said:
        text = base64.b64decode(said.get("output", "")).decode(errors="replace")
        values = {"dest": dest, **({"exit_status": 1, "stderr": text} if text else {})}
        return Outcome(failed=True, msg=said["error"], values=values)
    changed = said.get("changed") == "yes"
    known = attributes(said)
    values = {"diff": [], "dest": dest, **known}
    if "kept" in said:
        return Outcome(values={"dest": dest, "src": source})
    values["checksum"] = said.get("checksum", "")
    if remote:
        del values["diff"]
        values |= {"src": source, "md5sum": said.get("md5sum", "")}
        return Outcome(changed=changed, values=values, diff=_diff(said, after))
    if "content" in said:
        values |= {"src": source, "md5sum": said.get("md5sum", "")}
        if "backup_file" in said:
            values["backup_file"] = said["backup_file"]
    else:
        values["path"] = dest
    if check and changed and "content" in said:
        values = {"diff": [], "dest": dest, "src": source, "checksum": values["checksum"]}
    return Outcome(changed=changed, values=values, diff=_diff(said, after))


def _diff(said: Mapping[str, str], after: bytes) -> tuple[Diff, ...]:
    if "content" not in said:
        return ()
    before = base64.b64decode(said.get("before", "")).decode(errors="replace")
    text = after[:104448].decode(errors="replace")
    return (Diff(path=said.get("dest", ""), before=before, after=text),)
