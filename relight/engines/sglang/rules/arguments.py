"""Rules for the command line: flags that the parser refuses, and combinations that SGLang does."""

from __future__ import annotations

import difflib
import re

from relight.core.failure import FailureClass, Remedy
from relight.engines.sglang.names import PROTECTED, SPECULATIVE
from relight.engines.sglang.renames import HINTS, modern_name
from relight.engines.sglang.rule import Rule, Scene, Tier, regex
from relight.engines.sglang.rules.remedies import drop_speculation, tell

_CHOICE = re.compile(r"'([^']+)'|([\w.-]+)")


def _unknown(match: re.Match[str], _: Scene) -> Remedy:
    written = match["flag"].lstrip("-").split("=")[0]
    name = written.replace("_", "-")
    renamed = modern_name(name)
    if renamed is not None:
        new, value = renamed
        words = f"This version calls --{name} --{new}."
        if value is not None:
            return Remedy(drop=(name,), set={new: value}, words=words, auto="bounded")
        return Remedy(rename={name: new}, words=words, auto="bounded")
    if name != written:
        words = f"Flags are written with dashes: --{name}."
        return Remedy(rename={written: name}, words=words, auto="bounded")
    return Remedy(
        drop=(name,),
        words=HINTS.get(name, f"This version has no --{name}."),
        auto="never" if name in PROTECTED else "bounded",
    )


def _ambiguous(match: re.Match[str], _: Scene) -> Remedy:
    name = match["flag"].lstrip("-")
    near = [one.strip().lstrip("-") for one in match["near"].split(",") if one.strip()]
    renamed = modern_name(name)
    new = renamed[0] if renamed is not None else (near[0] if near else "")
    return Remedy(
        rename={name: new} if new else {},
        words=f"Write the whole name: {', '.join('--' + one for one in near)}.",
        auto="bounded" if renamed is not None else "never",
    )


def _choice(match: re.Match[str], _: Scene) -> Remedy:
    flag = match["flag"].lstrip("-").split("/")[0]
    choices = [one or two for one, two in _CHOICE.findall(match["choices"] or "")]
    near = difflib.get_close_matches(match["value"], choices, 1)
    return Remedy(
        set={flag: near[0]} if near else {},
        words=f"--{flag} takes one of: {', '.join(choices[:40])}.",
        auto="never",
    )


def _removed(match: re.Match[str], _: Scene) -> Remedy:
    choices = [one.strip() for one in re.split(r",|\bor\b", match["choices"]) if one.strip()]
    if match["value"] == "tc_piecewise":
        return Remedy(
            set={"cuda-graph-backend-prefill": choices[0]},
            words="Prefill graphs are captured by `breakable` now.",
            auto="bounded",
        )
    return tell(f"{match['value']} was removed: use one of {', '.join(choices)}.")


def _conflict(match: re.Match[str], _: Scene) -> Remedy:
    flag = (match.groupdict().get("flag") or "").lstrip("-").replace("_", "-")
    if flag in SPECULATIVE:
        return drop_speculation()
    if not flag or flag in PROTECTED:
        return tell("Change one of the flags that the message names.")
    return Remedy(
        drop=(flag,), words=f"Leave out --{flag}, or give what it requires.", auto="bounded"
    )


_RAISED = r"(?:ValueError|AssertionError|NotImplementedError|RuntimeError|TypeError|Exception): "

RULES: tuple[Rule, ...] = (
    Rule(
        "args.unknown",
        FailureClass.CLI_ARGS,
        ("unrecognized arguments", "no such option"),
        "the installed version does not know a flag",
        _unknown,
        regex(r"(?:unrecognized arguments: (?:[^-]\S* )*|no such option: )(?P<flag>--?[\w=-]+)"),
    ),
    Rule(
        "args.stray",
        FailureClass.CLI_ARGS,
        ("error: unrecognized arguments",),
        "a word on the command line belongs to no flag",
        tell("Remove the word, or give it its flag."),
    ),
    Rule(
        "args.ambiguous",
        FailureClass.CLI_ARGS,
        ("ambiguous option",),
        "a shortened flag fits more than one",
        _ambiguous,
        regex(r"ambiguous option: (?P<flag>--[\w-]+)(?:=\S+)? could match (?P<near>.*)"),
    ),
    Rule(
        "args.choice",
        FailureClass.CLI_ARGS,
        ("invalid choice",),
        "a flag has a value that it does not take",
        _choice,
        regex(
            r"argument (?P<flag>--[\w/-]+): invalid choice: '?(?P<value>[^' ]*)'?"
            r"(?: \(choose from (?P<choices>.*?)\)?$)?"
        ),
    ),
    Rule(
        "args.value",
        FailureClass.CLI_ARGS,
        ("error: argument",),
        "a flag has a value of the wrong kind, or none",
        tell("Give the flag a value that it takes."),
        regex(r"error: argument (?P<flag>-[\w/-]+): "),
    ),
    Rule(
        "args.missing",
        FailureClass.CLI_ARGS,
        ("arguments are required", "missing 1 required positional argument: 'model_path'"),
        "a flag that must be there is missing",
        tell("Add the flag."),
        regex(r"required: ?'?(?P<flag>[\w-]+)?"),
    ),
    Rule(
        "args.keyword",
        FailureClass.CLI_ARGS,
        ("got an unexpected keyword argument",),
        "the installed version does not know an argument",
        _unknown,
        regex(r"ServerArgs\.__init__\(\) got an unexpected keyword argument '(?P<flag>\w+)'"),
    ),
    Rule(
        "args.removed",
        FailureClass.CLI_ARGS,
        ("was removed; select",),
        "a flag has a value that was removed",
        _removed,
        regex(r"(?P<value>\w+) was removed; select (?P<choices>.+)"),
        flag="cuda-graph-backend-prefill",
    ),
    Rule(
        "args.type",
        FailureClass.CLI_ARGS,
        ("argumenttypeerror", "config file", "--config flag"),
        "a flag's value cannot be read",
        tell("Correct the flag's value."),
        regex(
            r"ArgumentTypeError: (?:.*?(?P<flag>--[\w-]+))?|Config file (?:not found|must)|"
            r"No config file specified|Multiple config files"
        ),
    ),
    Rule(
        "conflict.encoder_urls",
        FailureClass.FLAG_CONFLICT,
        ("encoder urls", "encoder disaggregation", "--encoder-only and --language-only"),
        "--language-only is for servers whose encoder runs elsewhere",
        Remedy(
            drop=("language-only", "encoder-only"),
            words="Leave out --language-only: it does not skip the vision part, it expects "
            "another server to run it (--encoder-urls).",
            auto="bounded",
        ),
        flag="language-only",
    ),
    Rule(
        "conflict.mamba_no_buffer",
        FailureClass.FLAG_CONFLICT,
        ("not compatible with radix cache when using",),
        "speculation on a hybrid model needs the radix cache with an extra buffer",
        Remedy(
            set={"mamba-scheduler-strategy": "extra_buffer"},
            env={"SGLANG_ENABLE_SPEC_V2": "1"},
            words="Keep the radix cache with an extra buffer, or drop speculative decoding.",
            auto="bounded",
        ),
        regex(r"(?P<flag>--mamba-[\w-]+)"),
    ),
    Rule(
        "conflict.context",
        FailureClass.FLAG_CONFLICT,
        ("derived context_length", "overriding this maximum", "max_model_len ("),
        "the context length is above the model's",
        Remedy(
            lower=("context-length",),
            env={"SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN": "1"},
            words="Ask for no more than the model's own context length, or allow a longer one "
            "knowingly.",
            auto="never",
        ),
        flag="context-length",
    ),
    Rule(
        "conflict.quantization",
        FailureClass.FLAG_CONFLICT,
        ("does not match the quantization method", "is not supported for quantization method"),
        "--quantization or --dtype contradicts the checkpoint",
        tell("Leave out --quantization or --dtype: the checkpoint says what it is."),
        flag="quantization",
    ),
    Rule(
        "conflict.exclusive",
        FailureClass.FLAG_CONFLICT,
        (
            "mutually exclusive",
            "at the same time",
            "cannot be used together",
            "cannot both be",
            "together with",
        ),
        "two flags do not go together",
        tell("Leave out one of the flags that the message names."),
        re.compile(_RAISED + r".*?(?:mutually exclusive|at the same time|together|cannot both be)"),
        tier=Tier.CONTEXT,
        serving=False,
    ),
    Rule(
        "conflict.words",
        FailureClass.FLAG_CONFLICT,
        (
            "incompatible",
            "not compatible",
            "mutually exclusive",
            "cannot be used",
            "cannot set",
            "cannot enable",
            "requires",
            "needs a",
            "needs to",
            "must be",
            "must have",
            "must set",
            "must specify",
            "should be",
            "only supports",
            "only supported",
            "not supported",
            "not support",
            "no effect",
            "please set",
            "please use",
            "please specify",
            "has no",
        ),
        "two flags, or a flag and the model, do not go together",
        _conflict,
        re.compile(_RAISED + r".*?(?P<flag>--[a-z][a-z0-9_-]+)"),
        re.compile(r"memory|--mem-fraction-static|CUDA error|Not enough", re.IGNORECASE),
        tier=Tier.CONTEXT,
        serving=False,
    ),
    Rule(
        "conflict.fields",
        FailureClass.FLAG_CONFLICT,
        (
            "tp_size",
            "dp_size",
            "ep_size",
            "pp_size",
            "nnodes",
            "chunked_prefill_size",
            "page_size",
            "server_args.",
            "self.speculative_",
            "speculative_",
            "moe_a2a_backend",
            "disaggregation_mode",
            "schedule_policy",
        ),
        "an argument does not go with another, or with the model",
        _conflict,
        re.compile(
            r"(?:ValueError|AssertionError|NotImplementedError): .*?(?:self\.|server_args\.)?"
            r"(?P<flag>(?:tp|dp|ep|pp)_size|nnodes|chunked_prefill_size|page_size|"
            r"speculative_\w+|moe_a2a_backend|disaggregation_mode|schedule_policy)\b"
        ),
        regex(r"block_n|quantiz|weight|memory|head|draft model"),
        tier=Tier.CONTEXT,
        serving=False,
    ),
)
