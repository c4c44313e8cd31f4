"""The plug-in that the rest of relight sees: SGLang behind the engine's protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import JsonValue

from relight.core.build import Build, CheckVerdict, Explanation, FlagFault, PastedCommand
from relight.core.engine import Endpoints, EngineSpec, Limits, SecretFile, ServerRequest, Spread
from relight.core.flags import Flags, FlagValue
from relight.core.startup import Reading
from relight.engines.sglang import build, checks, effective, launch, names, pasted, sizes
from relight.engines.sglang.forgotten import forgotten

if TYPE_CHECKING:
    from relight.engines.sglang.reader import SglangReader


class Sglang:
    """SGLang 0.5.10 to 0.5.23; earlier logs are read as well."""

    name = "sglang"
    protected = names.PROTECTED
    reserved = names.RESERVED
    compared = sizes.COMPARED
    endpoints = Endpoints(
        health="/health",
        models="/v1/models",
        chat="/v1/chat/completions",
        info="/server_info",
        load="/v1/loads",
    )

    secret_flags = names.SECRETS
    # SGLang reads --config as YAML, by its file's ending (server_args_config_parser.py).
    secret_file = SecretFile(option="--config", name="flags.yaml")

    def command(self, request: ServerRequest) -> tuple[str, ...]:
        """Return the launch's words, the program first."""
        return launch.command(request)

    def model_path(self, request: ServerRequest) -> str:
        """Return the model as the host names it: a folder, or a hub's name."""
        return launch.located(request.spec, request.model)

    def spread(self, flags: Flags) -> Spread | None:
        """Return how many GPUs a server with these flags takes; None where they do not say."""
        return sizes.spread(flags)

    def limits(self, info: Mapping[str, JsonValue]) -> Limits:
        """Return what a server takes, from what it says of itself."""
        return sizes.limits(info)

    def version_script(self, spec: EngineSpec) -> str:
        """Return a shell script that prints the installed version and loads nothing heavy."""
        return launch.version_script(spec)

    def reader(self) -> SglangReader:
        """Return a reader for one log."""
        # Its rules are hundreds of patterns, which only who reads a log has to wait for.
        from relight.engines.sglang.reader import SglangReader  # noqa: PLC0415

        return SglangReader()

    def canonical(self, flag: str) -> str:
        """Return the flag's one name among its aliases."""
        return names.canonical(flag)

    def arguments(self, request: ServerRequest) -> tuple[str, ...]:
        """Return the words of a launch that its parser reads."""
        return launch.arguments(request)

    def python_of(self, spec: EngineSpec) -> str:
        """Return shell lines that leave the engine's Python in `$py`, or end with a message."""
        return launch.python_of(spec)

    def flags_script(self) -> str:
        """Return a Python script that prints the installed build's flags."""
        return checks.flags_script()

    def read_build(self, text: str) -> Build:
        """Return the flag set that the script printed; raises ValueError when it is none."""
        return build.read_build(text)

    def checks_script(self, candidates: Mapping[str, Sequence[str]]) -> str:
        """Return a Python script that prints the engine's own verdict on each command line."""
        return checks.checks_script(candidates)

    def read_checks(self, text: str) -> tuple[CheckVerdict, ...]:
        """Return the verdicts that the script printed; raises ValueError when there are none."""
        return checks.read_checks(text)

    def check_flags(self, flags: Flags, installed: Build) -> tuple[FlagFault, ...]:
        """Return what the build's parser would refuse, or warn of."""
        return build.check_flags(flags, installed)

    def respelled(self, flags: Mapping[str, FlagValue], installed: Build) -> Flags:
        """Return flags in the build's own names."""
        return build.respelled(flags, installed)

    def forgotten(
        self,
        flags: Mapping[str, FlagValue],
        config: Mapping[str, object] | None = None,
        gpus: int | None = None,
    ) -> tuple[FlagFault, ...]:
        """Return what the engine accepts and should not."""
        return forgotten(flags, config, gpus)

    def explain(
        self,
        requested: Mapping[str, FlagValue],
        info: Mapping[str, JsonValue],
        reading: Reading,
        installed: Build | None = None,
        sm: float | None = None,
    ) -> Explanation:
        """Return what the server does with what was asked of it."""
        told = info or reading.arguments
        return effective.explain(requested, told, reading.facts, build=installed, sm=sm)

    def kept_info(
        self,
        info: Mapping[str, JsonValue],
        requested: Mapping[str, FlagValue],
        installed: Build | None = None,
    ) -> dict[str, JsonValue]:
        """Return what may be stored of the server's description of itself: never a secret."""
        return effective.kept_info(info, requested, installed)

    def import_command(self, text: str) -> PastedCommand:
        """Return the preset's fields of a pasted command; raises ValueError when it is none."""
        return pasted.import_command(text)
