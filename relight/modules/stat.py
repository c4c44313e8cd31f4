"""`stat`: what a path of the host is."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import model_validator

from relight.core.language.arguments import Arguments
from relight.core.outcome import Outcome
from relight.core.posix.answers import told
from relight.core.posix.stat import script, values
from relight.modules import Scope


class Args(Arguments):
    """The arguments of Ansible's `stat`."""

    path: str
    follow: bool = False
    get_checksum: bool = True
    get_mime: bool = True
    get_attributes: bool = True
    checksum_algorithm: Literal["md5", "sha1", "sha224", "sha256", "sha384", "sha512"] = "sha1"

    @model_validator(mode="before")
    @classmethod
    def _aliases(cls, data: Any) -> Any:
        names = {"dest": "path", "name": "path", "checksum": "checksum_algorithm"}
        if not isinstance(data, dict):
            return data
        return {names.get(key, key): value for key, value in data.items()}


def run(args: Args, scope: Scope) -> Outcome:
    """Look; nothing is changed."""
    text = script(
        args.path,
        follow=args.follow,
        checksum=args.checksum_algorithm if args.get_checksum else "",
        mime=args.get_mime,
        flags=args.get_attributes,
    )
    said = told(scope.open_connection().control(text))
    if "error" in said:
        return Outcome(failed=True, msg=said["error"])
    found = values(said, args.path, mime=args.get_mime, flags=args.get_attributes)
    return Outcome(values={"stat": found})
