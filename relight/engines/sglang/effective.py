"""What the server does with what was asked: requested, resolved and effective, compared. Pure.

Resolved values come from GET /server_info (all versions), else from the `server_args=` line; what
is effective beyond them only the log and the server's state tell.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from relight.core.build import Build, Explained, Explanation
from relight.core.flags import FlagValue
from relight.engines.sglang.arguments import is_secret
from relight.engines.sglang.effects import DEFAULTS, EFFECTS, NOISE, Situation
from relight.engines.sglang.names import canonical
from relight.engines.sglang.renames import former_names, modern_name

# Figures of /server_info that are kept beside the arguments.
_STATE = (
    "effective_max_running_requests_per_dp",
    "memory_usage",
    "avg_spec_accept_length",
    "last_gen_throughput",
)
_TOP = ("version", "max_total_num_tokens", "max_req_input_len", "startup_time")
_LONGEST = 400


def kept_info(
    info: Mapping[str, JsonValue], requested: Mapping[str, FlagValue], build: Build | None = None
) -> dict[str, JsonValue]:
    """Return what may be stored of /server_info or of a `server_args=` line.

    That is an allow-list: arguments that the build declares (without it: those that a rule reads
    or that were asked for), and a few figures. Secrets are never on it, nor is long free text.
    """
    allowed = {_field(name) for name in requested} | set(DEFAULTS)
    allowed |= {name for effect in EFFECTS for name in effect.fields}
    if build is not None:
        allowed |= {flag.dest for flag in build.flags}
        allowed |= {_field(name) for flag in build.flags for name in flag.names}
    kept = {
        name: value
        for name, value in info.items()
        if (name in _TOP or name in allowed) and not is_secret(name) and _plain(value)
    }
    states = info.get("internal_states")
    first = states[0] if isinstance(states, list) and states else None
    if isinstance(first, dict):
        kept["internal_states"] = [{name: first[name] for name in _STATE if name in first}]
    return kept


def explain(
    requested: Mapping[str, FlagValue],
    info: Mapping[str, JsonValue],
    facts: Mapping[str, str | int | float | bool],
    *,
    build: Build | None = None,
    sm: float | None = None,
) -> Explanation:
    """Return three groups: asked and got, asked and not got, changed without being asked.

    `info` is /server_info, or the arguments of the reading; `facts` are the reading's; `build`
    tells the defaults, without which only rules show a change; `sm` is the compute capability.
    """
    resolved = kept_info(info, requested, build)
    states = resolved.pop("internal_states", None)
    state = states[0] if isinstance(states, list) and states else {}
    here = Situation(facts, state if isinstance(state, dict) else {}, resolved, sm)
    kept: list[Explained] = []
    lost: list[Explained] = []
    told: set[str] = set()
    for flag, value in requested.items():
        if is_secret(flag):
            continue
        one, got = _asked(flag, value, resolved, here)
        told |= {_field(flag), _there(flag, resolved) or ""}
        (kept if got else lost).append(one)
    return Explanation(
        kept=tuple(kept), lost=tuple(lost), changed=tuple(_changed(resolved, here, told, build))
    )


def _asked(
    flag: str, value: FlagValue, resolved: Mapping[str, JsonValue], here: Situation
) -> tuple[Explained, bool]:
    name = _there(flag, resolved)
    plain: JsonValue = list(value) if isinstance(value, tuple) else value
    shown = resolved.get(name) if name is not None else None
    for effect in EFFECTS:
        if not {_field(flag), name} & set(effect.fields):
            continue
        if effect.rule == "prefill_graph.off" and value == "disabled":
            continue
        if not effect.asked and flag.startswith("disable-") and value is True:
            continue
        effective = effect.tell(value, here)
        if effective is not None:
            got, why = effective
            one = _explained(flag, plain, got, effect.rule, why)
            return one, effect.rule == "spec.nextn"
    if name is None:
        return _explained(flag, plain, None, "unseen", "the server does not show this flag"), True
    if _same(plain, shown):
        return _explained(flag, plain, shown, "", ""), True
    rule, why = DEFAULTS.get(name, ("", ""))
    return _explained(flag, plain, shown, rule, why), False


def _changed(
    resolved: Mapping[str, JsonValue], here: Situation, told: set[str], build: Build | None
) -> list[Explained]:
    found: dict[str, Explained] = {}
    for effect in EFFECTS:
        if effect.asked or set(effect.fields) & told:
            continue
        effective = effect.tell(None, here)
        if effective is not None:
            field = next((one for one in effect.fields if one in resolved), effect.fields[0])
            shown = field.replace("_", "-")
            found[field] = _explained(shown, None, effective[0], effect.rule, effective[1])
    for flag in build.flags if build is not None else ():
        name = next((one for one in (flag.dest, *map(_field, flag.names)) if one in resolved), None)
        if name is None or name in told or name in NOISE or name in found or flag.deprecated:
            continue
        got = resolved[name]
        if _same(flag.default, got) or isinstance(flag.default, dict):
            continue
        if flag.default is None and got in (False, "", "auto", []):
            continue
        rule, why = DEFAULTS.get(name, ("", ""))
        found[name] = _explained(flag.names[0], None, resolved[name], rule, why)
    return list(found.values())


def _explained(flag: str, asked: JsonValue, got: object, rule: str, why: str) -> Explained:
    shown: JsonValue = got if isinstance(got, str | int | float | bool | list) else None
    return Explained(flag=flag, requested=asked, resolved=shown, rule=rule, why=why)


def _field(flag: str) -> str:
    return canonical(flag).replace("-", "_")


def _there(flag: str, resolved: Mapping[str, JsonValue]) -> str | None:
    """Return the field that shows a flag, under this version's name."""
    newer = modern_name(canonical(flag))
    candidates = [
        canonical(flag),
        *([newer[0]] if newer is not None and newer[1] is None else []),
        *(one.old for one in former_names(canonical(flag)) if one.value is None),
    ]
    for name in candidates:
        field = name.replace("-", "_")
        for one in (field, f"{field.removesuffix('_backend')}_runner_backend"):
            if one in resolved:
                return one
    return None


def _same(one: JsonValue, other: JsonValue) -> bool:
    if one == other:
        return True
    if isinstance(one, list) and not isinstance(other, list):
        return len(one) == 1 and _same(one[0], other)
    if isinstance(other, list) and not isinstance(one, list):
        return len(other) == 1 and _same(one, other[0])
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    try:
        return float(str(one)) == float(str(other))
    except ValueError:
        return str(one) == str(other)


def _plain(value: JsonValue) -> bool:
    if isinstance(value, list):
        return len(value) <= _LONGEST and all(_plain(item) for item in value)
    return not isinstance(value, dict) and (not isinstance(value, str) or len(value) <= _LONGEST)
