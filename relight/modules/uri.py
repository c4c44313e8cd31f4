"""`uri`: an HTTP request whose connection starts on the host: 127.0.0.1 is the host itself."""

from __future__ import annotations

import contextlib
import json
import time
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

from pydantic import Field, model_validator

from relight.core.language.arguments import Arguments, Mode
from relight.core.outcome import Outcome
from relight.core.posix.answers import attributes, told
from relight.core.posix.install import Install, expanded_home, script
from relight.modules import Scope

if TYPE_CHECKING:
    import httpx


SENDS = "files"
_REFUSED = 300
"""From this status on Ansible's library takes an answer for an error."""
_JSON = ("application/json", "text/json", "application/javascript", "text/javascript")


class Args(Arguments):
    """The arguments of Ansible's `uri`."""

    url: str
    method: str = "GET"
    body: Any = None
    body_format: Literal["raw", "json", "form-urlencoded"] = "raw"
    headers: dict[str, str] = {}
    status_code: int | str | tuple[int | str, ...] = 200
    return_content: bool = False
    timeout: float = Field(default=30, gt=0)
    follow_redirects: Literal["all", "yes", "no", "none", "safe", "urllib2"] | bool = "safe"
    validate_certs: bool = True
    url_username: str | None = None
    url_password: str | None = None
    user: str | None = None
    password: str | None = None
    force_basic_auth: bool = False
    http_agent: str = "ansible-httpget"
    force: bool = False
    dest: str | None = None
    mode: Mode = ""
    owner: str = ""
    group: str = ""
    creates: str | None = None
    removes: str | None = None
    src: str | None = None
    remote_src: bool = False

    @model_validator(mode="after")
    def _fits(self) -> Args:
        if self.body is not None and self.src is not None:
            raise ValueError("say what to send: body or src, not both")
        return self


def run(args: Args, scope: Scope) -> Outcome:
    """Ask; an answer with another status than the wanted one is a failure."""
    import httpx  # noqa: PLC0415  start-up time

    if scope.check:
        return Outcome(skipped=True, msg="This action (uri) does not support check mode.")
    if not args.validate_certs and args.url.lower().startswith("https:"):
        message = "validate_certs: false is not honoured: relight checks the certificates of https"
        return Outcome(failed=True, msg=message)
    method = args.method.upper()
    unneeded = _unneeded(args, scope)
    if unneeded:
        return Outcome(values={"stdout": unneeded})
    headers, content = _body(args)
    if args.src is not None:
        content = _source(args.src, scope, remote=args.remote_src)
        if content is None:
            message = f"Unable to open source file {args.src}"
            return Outcome(failed=True, values={"msg": message, "elapsed": 0})
    begun = time.monotonic()
    headers.setdefault("User-Agent", args.http_agent)
    if args.force:
        headers.setdefault("Cache-Control", "no-cache")
    client = httpx.Client(
        transport=scope.open_connection().transport(),
        timeout=args.timeout,
        follow_redirects=_follows(args, method),
        headers={
            "User-Agent": args.http_agent,
            **({"Cache-Control": "no-cache"} if args.force else {}),
        },
        trust_env=False,
    )
    user = args.url_username or args.user
    auth = (user, args.url_password or args.password or "") if user else None
    try:
        with client:
            answer = client.request(method, args.url, headers=headers, content=content, auth=auth)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        return _unanswered(args, str(error) or type(error).__name__, begun)
    outcome = _answered(args, answer, begun)
    if args.dest is None or outcome.failed:
        return outcome
    return _kept(args, scope, answer, outcome)


def _unneeded(args: Args, scope: Scope) -> str:
    """Return why the request is not needed: `creates` is there, or `removes` is not."""
    for name, there in ((args.creates, True), (args.removes, False)):
        if name is not None:
            looked = scope.open_connection().control(f"test -e {expanded_home(name)}")
            if (looked.exit == 0) == there:
                return f"skipped, since '{name}' {'exists' if there else 'does not exist'}"
    return ""


def _source(name: str, scope: Scope, *, remote: bool) -> bytes | None:
    """Return the content of a file to send; None when it is not there."""
    if remote:
        result = scope.open_connection().run(f"cat -- {expanded_home(name)}")
        return None if result.exit else result.stdout
    path = scope.source(name, "files")
    return None if path is None or path.is_dir() else path.read_bytes()


def _kept(args: Args, scope: Scope, answer: httpx.Response, outcome: Outcome) -> Outcome:
    """Write the body of an answer to a file of the host; that is always a change, as in Ansible."""
    name = answer.url.path.rpartition("/")[2] or "index.html"
    plan = Install(
        dest=args.dest or "", name=name, mode=args.mode, owner=args.owner, group=args.group
    )
    said = told(scope.open_connection().control(script(plan), data=answer.content, timeout=120))
    path = said.get("dest", args.dest)
    if "error" in said:
        values = {**outcome.values, "path": path, "msg": f"failed to write {path}: {said['error']}"}
        return Outcome(failed=True, values=values)
    return Outcome(changed=True, values={**outcome.values, "path": path, **attributes(said)})


def _body(args: Args) -> tuple[dict[str, str], bytes | None]:
    headers = dict(args.headers)
    given = {name.lower() for name in headers}
    if args.body is None:
        return headers, None
    if args.body_format == "json":
        text = args.body if isinstance(args.body, str) else json.dumps(args.body)
        if "content-type" not in given:
            headers["Content-Type"] = "application/json"
    elif args.body_format == "form-urlencoded":
        text = args.body if isinstance(args.body, str) else urlencode(_pairs(args.body))
        if "content-type" not in given:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
    else:
        text = args.body if isinstance(args.body, str) else json.dumps(args.body)
        if "content-type" not in given:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
    return headers, text.encode()


def _pairs(body: Any) -> list[tuple[str, str]]:
    """Return a form as pairs: a list of values is a pair each, null is left out."""
    found: list[tuple[str, str]] = []
    for key, value in body.items() if isinstance(body, dict) else body:
        values = list(value) if isinstance(value, list | tuple | dict) else [value]
        found += [(str(key), str(one)) for one in values if one is not None]
    return found


def _follows(args: Args, method: str) -> bool:
    if args.follow_redirects in ("all", "yes", True):
        return True
    return args.follow_redirects in ("safe", "urllib2") and method in ("GET", "HEAD")


def _wanted(args: Args) -> list[int]:
    codes = args.status_code
    listed = codes if isinstance(codes, tuple) else str(codes).split(",")
    return [int(code) for code in listed]


def _unanswered(args: Args, why: str, begun: float) -> Outcome:
    elapsed = int(time.monotonic() - begun)
    message = f"Status code was -1 and not {_wanted(args)}: Request failed: {why}"
    values = {"status": -1, "url": args.url, "elapsed": elapsed, "redirected": False}
    return Outcome(failed=True, msg=message, values=values)


def _answered(args: Args, answer: httpx.Response, begun: float) -> Outcome:
    values: dict[str, Any] = {
        name.lower().replace("-", "_"): value for name, value in answer.headers.items()
    }
    if "location" in values:
        values["location"] = str(answer.url.join(values["location"]))
    values |= {
        "status": answer.status_code,
        "url": str(answer.url),
        "redirected": bool(answer.history),
        "elapsed": int(time.monotonic() - begun),
        **_words(answer),
    }
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    named = kind in _JSON or kind.endswith("+json")
    if named:
        with contextlib.suppress(ValueError):
            values["json"] = answer.json()
    failed = answer.status_code not in _wanted(args)
    if args.return_content:
        values["content"] = answer.text
    elif answer.status_code >= _REFUSED and not (named or failed):
        values["body"] = answer.text
    if failed:
        said = values["msg"]
        values["msg"] = f"Status code was {answer.status_code} and not {_wanted(args)}: {said}"
    return Outcome(failed=failed, values=values)


def _words(answer: httpx.Response) -> dict[str, Any]:
    """Return what is said of an answer; Ansible says nothing of the cookies of a refusal."""
    if answer.status_code >= _REFUSED:
        return {"msg": f"HTTP Error {answer.status_code}: {answer.reason_phrase}"}
    cookies = {name: value for name, value in answer.cookies.items() if value is not None}
    size = answer.headers.get("content-length", "unknown")
    return {
        "cookies": cookies,
        "cookies_string": "; ".join(f"{name}={value}" for name, value in cookies.items()),
        "msg": f"OK ({size} bytes)",
    }
