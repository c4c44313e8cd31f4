"""SGLang's own checks of its arguments, in its order and words; each ends in a Refusal."""

from __future__ import annotations

import os
import re
from pathlib import Path

from relight.standin.scenarios.kinds import REFUSE
from relight.standin.settings import Settings
from relight.standin.wording import refusal_traceback, usage_error

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_DISAGGREGATED = re.compile(r"Qwen[23].*(VL|_5)|InternS2|Omni|Kimi|MiMoV2|GLM5Next|MiniMax")


class Refusal(Exception):
    """The engine ends here: what it prints, and its exit code."""

    def __init__(self, text: str, code: int, log: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.code = code
        self.log = log


def _value_error(settings: Settings, frame: tuple[str, str], message: str) -> Refusal:
    return Refusal(refusal_traceback(settings.profile, (frame,), message), 1)


def _model_files(settings: Settings) -> None:
    path = str(settings.values["model_path"])
    frame = ("utils/hf_transformers_utils.py", "config = AutoConfig.from_pretrained(")
    if path == "standin" or path.startswith("standin/"):
        return
    folder = Path(path)
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            message = (
                f"OSError: {path} does not appear to have a file named config.json. Checkout "
                f"'https://huggingface.co/{path}/tree/main' for available files."
            )
            raise _value_error(settings, frame, message)
        return
    if not _HUB_NAME.fullmatch(path):
        message = (
            "OSError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': "
            f"'{path}'. Use `repo_type` argument if needed."
        )
        raise _value_error(settings, frame, message)
    if os.environ.get("HF_HUB_OFFLINE") == "1":
        message = (
            "OSError: We couldn't connect to 'https://huggingface.co' to load the files, and "
            "couldn't find them in the cached files.\nCheck your internet connection or see how "
            "to run the library in offline mode at "
            "'https://huggingface.co/docs/transformers/installation#offline-mode'."
        )
        raise _value_error(settings, frame, message)


def _context_length(settings: Settings) -> None:
    asked, derived = settings.values["context_length"], settings.model.context_length
    allowed = os.environ.get("SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN") in ("1", "true")
    if asked is None or asked <= derived or allowed:
        return
    message = (
        f"ValueError: Warning: User-specified context_length ({asked}) is greater than the derived "
        f"context_length ({derived}). This may lead to incorrect model outputs or CUDA errors. "
        "Note that the derived context_length may differ from max_position_embeddings in the "
        "model's config. To allow overriding this maximum, set the env var "
        "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1"
    )
    raise _value_error(settings, ("configs/model_config.py", "raise ValueError(msg)"), message)


def _mamba_strategy(settings: Settings) -> None:
    flag = settings.profile.strategy_flag
    strategy = settings.values[flag.replace("-", "_")]
    architecture = settings.model.architecture
    frame = ("server_args.py", "self._handle_mamba_radix_cache(")
    if strategy.startswith("extra_buffer") and not settings.model.hybrid:
        if not settings.profile.no_buffer_by_default:
            message = (
                f"ValueError: --{flag}={strategy} needs a model with mamba state, but "
                f"{architecture} has none. Use 'auto' (default) or 'no_buffer'."
            )
            raise _value_error(settings, frame, message)
        return
    if not settings.model.hybrid or not settings.speculative:
        return
    if settings.values["disable_radix_cache"] or strategy.startswith("extra_buffer"):
        return
    if strategy == "no_buffer" or settings.profile.no_buffer_by_default:
        message = (
            f"ValueError: Speculative decoding for {architecture} is not compatible with radix "
            f"cache when using --{flag} no_buffer.To use radix cache with speculative decoding, "
            f"please use --{flag} extra_buffer and set SGLANG_ENABLE_SPEC_V2=1."
        )
        raise _value_error(settings, frame, message)


def _attention_backend(settings: Settings) -> None:
    if settings.values["attention_backend"] == "trtllm_mha":
        message = (
            "ValueError: TRTLLM MHA backend is only supported on Blackwell GPUs (SM100). "
            "Please use a different backend."
        )
        frame = ("server_args.py", "self._handle_attention_backend_compatibility()")
        raise _value_error(settings, frame, message)


def _language_only(settings: Settings) -> None:
    if not settings.values["language_only"] or settings.values["encoder_urls"]:
        return
    if settings.profile.language_only_needs_urls:
        message = "ValueError: requires at least one encoder urls to be set via --encoder-urls"
        frame = ("server_args.py", "self._handle_encoder_disaggregation()")
        raise _value_error(settings, frame, message)
    architecture = settings.model.architecture
    if _DISAGGREGATED.search(architecture):
        return
    message = (
        f"ValueError: Model type {architecture} is not supported for encoder disaggregation. "
        "Supported architectures: Qwen2VL, Qwen3VL, Qwen3.5, InternS2, Qwen2Audio, Qwen2.5Omni, "
        "Dots3-Note, Kimi, MiMoV2, GLM5Next, MiniMax-M3, MuseSpark."
    )
    frame = ("arg_groups/pd_disaggregation_hook.py", "raise ValueError(")
    text = refusal_traceback(settings.profile, (frame,), message)
    log = (
        (
            "--language-only is set without --encoder-urls. Encoders are expected to register "
            "dynamically via the EncoderBootstrapServer."
        ),
        (
            f"Encoder transfer backend auto-resolved to zmq_to_scheduler for {architecture} at "
            f"TP{settings.values['tp_size']}."
        ),
        (
            f"kill_process_tree called: parent_pid={os.getpid()}, include_parent=False, "
            f"pid={os.getpid()}"
        ),
    )
    raise Refusal(text, 1, log)


def _scenarios(settings: Settings, stages: tuple[str, ...]) -> None:
    for scenario in settings.scenarios:
        if scenario.act != REFUSE or scenario.stage not in stages:
            continue
        if scenario.stage == "args":
            raise Refusal(usage_error(settings.profile, scenario.error), scenario.rc)
        error = scenario.error.replace("{model}", str(settings.values["model_path"]))
        text = refusal_traceback(settings.profile, scenario.frames, error)
        raise Refusal(text, scenario.rc)


def check(settings: Settings) -> None:
    """Raise Refusal where SGLang would end before it starts a process."""
    _scenarios(settings, ("import", "args"))
    _model_files(settings)
    _context_length(settings)
    _mamba_strategy(settings)
    _attention_backend(settings)
    _language_only(settings)
    _scenarios(settings, ("resolve",))


def check_spawn(settings: Settings) -> None:
    """Raise Refusal where SGLang would end once its arguments are printed."""
    _scenarios(settings, ("spawn",))
