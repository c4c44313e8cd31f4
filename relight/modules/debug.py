"""`debug`: print a message, or what an expression comes to."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from relight.core.language.arguments import Arguments
from relight.core.language.templating import Templar, TemplateFault
from relight.core.outcome import Outcome
from relight.modules import Scope


class Args(Arguments):
    """The arguments of Ansible's `debug`; `verbosity` above 0 is never reached."""

    msg: Any = "Hello world!"
    var: Any = None
    verbosity: int = 0

    @model_validator(mode="after")
    def _one(self) -> Args:
        if {"msg", "var"} <= self.model_fields_set:
            raise ValueError("'msg' and 'var' are incompatible options: keep one of them")
        return self


def run(args: Args, scope: Scope) -> Outcome:
    """Return the message; it reaches the reader as the task's own result."""
    if args.verbosity > 0:
        return Outcome(skipped=True, values={"skipped_reason": "Verbosity threshold not met."})
    if args.var is None:
        return Outcome(values={"msg": args.msg})
    if not isinstance(args.var, str):
        return Outcome(values={str(type(args.var).__name__): args.var})
    templar = scope.templar or Templar({}, scope.variables)
    try:
        return Outcome(values={args.var: templar.expression(args.var)})
    except TemplateFault as fault:
        if not fault.undefined:
            raise
        return Outcome(values={args.var: f"<< error 1 - {fault.what} >>"})
