"""Proof that a server is usable: real answers, from the expected model, through the connection."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from relight.core import canary as asking
from relight.core.failure import Diagnosis, FailureClass
from relight.core.preset import Canary
from relight.core.release import Release
from relight.deploy.secrets import api_key
from relight.deploy.target import Target

if TYPE_CHECKING:
    import httpx

_ANSWER_WITHIN = 60.0
_FIRST = 2  # the first sampled request compiled for a minute on an H200 (SGLang 0.5.12)
_HEALTH_WITHIN = 25.0  # SGLang's own /health waits 20 s for a token before it says 503


def url(release: Release) -> str:
    """Return where a release's server answers, as its host names it."""
    return f"http://{_reach(release)}:{release.port}"


def client(target: Target, release: Release, *, timeout: float = _ANSWER_WITHIN) -> httpx.Client:
    """Return an HTTP client whose connections start on the host."""
    import httpx  # noqa: PLC0415 - start-up time

    return httpx.Client(
        transport=target.connection.transport(),
        base_url=url(release),
        timeout=timeout,
        headers=_authorization(target, release),
    )


def healthy(http: httpx.Client, target: Target, release: Release) -> Diagnosis | None:
    """Return what is wrong with a server that should be up: health and the model's name."""
    return Proof(http, target, release).healthy()


@dataclass
class Proof:
    """One proof of one server; `announced` are sizes that the server told (in tokens)."""

    http: httpx.Client
    target: Target
    release: Release
    answers: tuple[Canary, ...] = ()
    announced: Sequence[int] = ()
    _card_length: tuple[int, ...] = ()
    _texts: list[str] = field(default_factory=list)
    _answered: bool = False

    def healthy(self, *, at_once: bool = False) -> Diagnosis | None:
        """Return what is wrong with health and the model's name.

        Asked `at_once` they take one round trip less, and a connection more.
        """
        import httpx  # noqa: PLC0415 - start-up time

        paths, release = self.target.engine.endpoints, self.release
        try:
            with ThreadPoolExecutor(1) as pool:
                models = pool.submit(self._get, paths.models) if at_once else None
                health = self._get(paths.health)
            if health.status_code != 200:
                what = f"{paths.health} answers {health.status_code}"
                return _broken(FailureClass.RUNTIME_HANG, what)
            cards = _cards(models.result() if models is not None else self._get(paths.models))
        except (httpx.HTTPError, ValueError) as error:
            # Silence is a hang; a connection refused or broken off is a server that is gone.
            gone = isinstance(error, httpx.HTTPError) and not isinstance(
                error, httpx.TimeoutException
            )
            failure = FailureClass.RUNTIME_CRASH if gone else FailureClass.RUNTIME_HANG
            return _broken(failure, f"no answer on port {release.port}: {_say(error)}")
        names = [str(card.get("id"))[:200] for card in cards]
        if release.served_name not in names:
            there = ", ".join(names) or "nothing"
            return _broken(
                FailureClass.WRONG_OUTPUT,
                f"port {release.port} serves {there}, not {release.served_name}: another server?",
            )
        lengths = (card.get("max_model_len") for card in cards)
        self._card_length = tuple(one for one in lengths if isinstance(one, int))
        return None

    def usable(self) -> Diagnosis | None:
        """Return what is wrong when asked for real.

        An answer, a longer prompt, several at once, known answers; then all answers together.
        """
        # The requests that come together further down take the connections that this opens.
        wrong = self.healthy(at_once=True)
        if wrong is not None:
            return wrong
        room = asking.room_of(self.release.flags, (*self._card_length, *self.announced))
        prompts = asking.short_prompts(room)
        wrong = self._ask(prompts[0]) if prompts else None
        if wrong is not None:
            return wrong
        longer = asking.long_prompt(room)
        wrong = self._ask(longer) if longer is not None else None
        if wrong is not None:
            return _on("a longer prompt", wrong)
        with ThreadPoolExecutor(asking.AT_ONCE) as pool:
            several = list(pool.map(self._ask, prompts[-asking.AT_ONCE :]))
        wrong = next((one for one in several if one is not None), None)
        if wrong is not None:
            return _on(f"{asking.AT_ONCE} requests at once", wrong)
        if asking.all_garbage(self._texts):
            return _broken(
                FailureClass.WRONG_OUTPUT, f"every answer is garbage: {self._texts[0][:40]!r} ..."
            )
        return next((wrong for one in self.answers if (wrong := self._known(one, room))), None)

    def again(self) -> Diagnosis | None:
        """Return what is wrong at the second look: health, the model's name and one answer."""
        room = asking.room_of(self.release.flags, (*self._card_length, *self.announced))
        prompts = asking.short_prompts(room)
        wrong = self.healthy() or (self._ask(prompts[0]) if prompts else None)
        return None if wrong is None else _on("a second look", wrong)

    def _known(self, known: Canary, room: int | None) -> Diagnosis | None:
        if not asking.fits(known, room):
            what = f"{known.ask[:60]!r} and its answer do not fit {room} tokens: it is not asked"
            self.target.say(what, "warning")
            return None
        answer = self._chat(known.ask, known.max_tokens, temperature=0.0)
        if isinstance(answer, Diagnosis):
            return _on("a known question", answer)
        text, thought, _ = answer
        if asking.recognized(known, text, thought):
            return None
        said = (text or thought)[:120]
        return _broken(
            FailureClass.WRONG_OUTPUT,
            f"{known.ask[:80]!r} is answered {said!r}, without {known.match!r}",
        )

    def _ask(self, prompt: str) -> Diagnosis | None:
        answer = self._chat(prompt, asking.TOKENS, temperature=0.6)
        if isinstance(answer, Diagnosis):
            return answer
        text, thought, tokens = answer
        if not text and not thought and not tokens:
            return _broken(FailureClass.WRONG_OUTPUT, "a chat answer is empty")
        self._texts.append(text + thought)
        return None

    def _get(self, path: str) -> httpx.Response:
        return self.http.get(path, timeout=_HEALTH_WITHIN)

    def _chat(
        self, prompt: str, max_tokens: int, *, temperature: float
    ) -> tuple[str, str, int] | Diagnosis:
        import httpx  # noqa: PLC0415 - start-up time

        body = {
            "model": self.release.served_name,
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": max_tokens,
            "temperature": temperature,
        }
        limit = (self.http.timeout.read or _ANSWER_WITHIN) * (1 if self._answered else _FIRST)
        try:
            answer = self.http.post(self.target.engine.endpoints.chat, json=body, timeout=limit)
        except httpx.TimeoutException:
            return _broken(
                FailureClass.RUNTIME_HANG,
                f"health answers, but a chat request got no answer in {limit:.0f} s",
            )
        except httpx.HTTPError as error:
            return _broken(FailureClass.RUNTIME_CRASH, f"a chat request broke off: {_say(error)}")
        self._answered = True
        if answer.status_code != 200:
            return _broken(
                FailureClass.WRONG_OUTPUT,
                f"a chat request was answered {answer.status_code}: {answer.text[:200]}",
            )
        try:
            return asking.content_of(answer.json())
        except ValueError as error:
            return _broken(FailureClass.WRONG_OUTPUT, str(error)[:200])


def _cards(response: httpx.Response) -> list[dict[str, Any]]:
    if response.status_code != 200:
        raise ValueError(f"{response.url.path} answers {response.status_code}")
    data = response.json()
    items = data.get("data", []) if isinstance(data, dict) else []
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _on(occasion: str, wrong: Diagnosis) -> Diagnosis:
    return wrong.model_copy(update={"summary": f"on {occasion}: {wrong.summary}"})


def _reach(release: Release) -> str:
    host = release.flags.get("host")
    if not isinstance(host, str) or host in ("0.0.0.0", "::", "localhost"):  # noqa: S104 - compared, not bound
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _authorization(target: Target, release: Release) -> dict[str, str]:
    key = api_key(target, release)
    return {} if key is None else {"Authorization": f"Bearer {key}"}


def _say(error: Exception) -> str:
    return str(error) or type(error).__name__


def _broken(failure: FailureClass, summary: str) -> Diagnosis:
    return Diagnosis(failure=failure, summary=summary)
