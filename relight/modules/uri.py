"""`uri`: an HTTP request whose connection starts on the host: 127.0.0.1 is the host itself."""

from __future__ import annotations

import contextlib
import json
import time
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

from pydantic import Field

from relight.core.language.arguments import Arguments
from relight.core.outcome import Outcome
from relight.modules import Scope

if TYPE_CHECKING:
    import httpx

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


def run(args: Args, scope: Scope) -> Outcome:
    """Ask; an answer with another status than the wanted one is a failure."""
    import httpx  # noqa: PLC0415  start-up time

    method = args.method.upper()
    if scope.check and method not in ("GET", "HEAD", "OPTIONS"):
        message = "the request would have been sent if not in check mode"
        return Outcome(skipped=True, msg=message)
    headers, content = _body(args)
    begun = time.monotonic()
    client = httpx.Client(
        transport=scope.open_connection().transport(),
        timeout=args.timeout,
        follow_redirects=_follows(args, method),
        headers={"User-Agent": "relight"},
        trust_env=False,
    )
    user = args.url_username or args.user
    auth = (user, args.url_password or args.password or "") if user else None
    try:
        with client:
            answer = client.request(method, args.url, headers=headers, content=content, auth=auth)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        return _unanswered(args, str(error) or type(error).__name__, begun)
    return _answered(args, answer, begun)


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
        text = args.body if isinstance(args.body, str) else urlencode(args.body, doseq=True)
        if "content-type" not in given:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
    else:
        text = args.body if isinstance(args.body, str) else json.dumps(args.body)
        if "content-type" not in given:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
    return headers, text.encode()


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
    cookies = {name: value for name, value in answer.cookies.items() if value is not None}
    size = answer.headers.get("content-length", "unknown")
    values |= {
        "status": answer.status_code,
        "url": str(answer.url),
        "redirected": bool(answer.history),
        "elapsed": int(time.monotonic() - begun),
        "cookies": cookies,
        "cookies_string": "; ".join(f"{name}={value}" for name, value in cookies.items()),
        "msg": f"OK ({size} bytes)",
    }
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in _JSON or kind.endswith("+json"):
        with contextlib.suppress(ValueError):
            values["json"] = answer.json()
    failed = answer.status_code not in _wanted(args)
    if args.return_content or failed:
        values["content"] = answer.text
    if failed:
        reason = answer.reason_phrase
        words = f"HTTP Error {answer.status_code}: {reason}"
        values["msg"] = f"Status code was {answer.status_code} and not {_wanted(args)}: {words}"
    return Outcome(failed=failed, values=values)
