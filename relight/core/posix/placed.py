"""From what the install script said to what Ansible's `copy` and `template` return."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from relight.core.outcome import Diff, Outcome
from relight.core.posix.answers import attributes


def outcome(
    said: Mapping[str, str],
    after: bytes,
    source: str,
    *,
    check: bool,
    diff: bool = False,
    remote: bool = False,
) -> Outcome:
    """Return the outcome; `after` is the content that was sent, for the diff."""
    dest = said.get("dest", "")
    if "error" in said:
        text = base64.b64decode(said.get("output", "")).decode(errors="replace")
        values = {"dest": dest, **({"exit_status": 1, "stderr": text} if text else {})}
        return Outcome(failed=True, msg=said["error"], values=values)
    changed = said.get("changed") == "yes"
    known = attributes(said)
    shown = _diff(said, after)
    told = [_registered(one, said, source) for one in shown] if diff else []
    values = {"diff": told, "dest": dest, **known}
    if "kept" in said:
        return Outcome(values={"dest": dest, "src": source})
    values["checksum"] = said.get("checksum", "")
    if remote:
        del values["diff"]
        values |= {"src": source, "md5sum": said.get("md5sum", "")}
        return Outcome(changed=changed, values=values, diff=shown)
    if "content" in said:
        values |= {"src": source, "md5sum": said.get("md5sum", "")}
        if "backup_file" in said:
            values["backup_file"] = said["backup_file"]
    else:
        values["path"] = dest
        if diff:
            values["diff"] = _attributes(said, dest)
    if check and "content" in said:
        values = {"diff": told}
    return Outcome(changed=changed, values=values, diff=shown)


def _registered(shown: Diff, said: Mapping[str, str], source: str) -> dict[str, str]:
    """Return a change of content under Ansible's names."""
    dest = said.get("dest", "")
    before = {"before_header": dest} if "before" in said else {}
    header = source or dest
    return {"before": shown.before, "after": shown.after, **before, "after_header": header}


def _attributes(said: Mapping[str, str], dest: str) -> dict[str, dict[str, str]]:
    """Return a change of mode under Ansible's names."""
    modes = (said.get("had", ""), said.get("mode", ""))
    known = [f"{int(mode, 8):04o}" if mode else "" for mode in modes]
    differ = known[0] != known[1]
    before, after = ({"path": dest, **({"mode": mode} if differ else {})} for mode in known)
    return {"before": before, "after": after}


def _diff(said: Mapping[str, str], after: bytes) -> tuple[Diff, ...]:
    if "content" not in said:
        return ()
    before = base64.b64decode(said.get("before", "")).decode(errors="replace")
    text = after[:104448].decode(errors="replace")
    return (Diff(path=said.get("dest", ""), before=before, after=text),)
