"""The plug-in that the rest of relight sees: SGLang behind the engine's protocol."""

from __future__ import annotations

from relight.core.engine import Endpoints, EngineSpec, ServerRequest
from relight.engines.sglang import launch, names
from relight.engines.sglang.reader import SglangReader


class Sglang:
    """SGLang 0.5.10 to 0.5.23; earlier logs are read as well."""

    name = "sglang"
    protected = names.PROTECTED
    reserved = names.RESERVED
    endpoints = Endpoints(
        health="/health",
        models="/v1/models",
        chat="/v1/chat/completions",
        info="/server_info",
        load="/v1/loads",
    )

    def command(self, request: ServerRequest) -> tuple[str, ...]:
        """Return the launch's words, the program first."""
        return launch.command(request)

    def version_script(self, spec: EngineSpec) -> str:
        """Return a shell script that prints the installed version and loads nothing heavy."""
        return launch.version_script(spec)

    def reader(self) -> SglangReader:
        """Return a reader for one log."""
        return SglangReader()

    def canonical(self, flag: str) -> str:
        """Return the flag's one name among its aliases."""
        return names.canonical(flag)
