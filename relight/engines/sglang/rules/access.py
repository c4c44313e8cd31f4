"""Rules for a model that cannot be had: hub, token, network, disk, files."""
# ruff: noqa: S108 - /dev/shm is what the messages are about

from __future__ import annotations

from relight.core.failure import FailureClass, Remedy
from relight.core.startup import Stage
from relight.engines.sglang.rule import Rule, Tier, regex
from relight.engines.sglang.rules.remedies import tell

# A request of the server to itself is no download.
_OWN = regex(r"model_info|/generate|/health|warmup|127\.0\.0\.1|0\.0\.0\.0|localhost")
_OFFLINE = Remedy(
    env={"HF_HUB_OFFLINE": "1"},
    words="The hub cannot be reached: fetch the model to the host first, then start offline.",
    auto="bounded",
)
_STARTING = frozenset({Stage.IMPORT, Stage.RESOLVE, Stage.SPAWN, Stage.DIST, Stage.LOAD})


RULES: tuple[Rule, ...] = (
    Rule(
        "access.denied",
        FailureClass.MODEL_ACCESS,
        (
            "401 client error",
            "403 client error",
            "gated repo",
            "gatedrepoerror",
            "access to model",
            "awaiting a review",
            "you are trying to access a gated",
            "invalid username or password",
            "invalid user token",
            "not in the authorized list",
        ),
        "the hub refuses the model to this account",
        tell("Accept the model's licence and give a token that may read it (HF_TOKEN)."),
        unless=_OWN,
    ),
    Rule(
        "access.none",
        FailureClass.MODEL_ACCESS,
        (
            "404 client error",
            "repositorynotfounderror",
            "revisionnotfounderror",
            "entrynotfounderror",
            "repo id must be in the form",
            "repo id must use alphanumeric",
            "is not a local folder and is not a valid model identifier",
            "not a valid model identifier",
            "does not appear to have a file named",
            "can't load tokenizer for",
            "can't load the configuration of",
            "can't load image processor",
            "can't load feature extractor",
            "no file named",
            "incorrect path_or_model_id",
            "hfvalidationerror",
            "model path does not exist",
            "not exists on https://",
            "repo_not_found",
            "notexisterror",
            "unable to load vocabulary from file",
        ),
        "there is no such model, or not all of its files",
        tell(
            "Check the model's path or name on the host, and that config and tokenizer are there."
        ),
        unless=_OWN,
    ),
    Rule(
        "access.config_file",
        FailureClass.MODEL_ACCESS,
        ("no such file or directory",),
        "a file of the model is missing",
        tell("Check the model's folder on the host."),
        regex(
            r"No such file or directory: .*(?:config\.json|tokenizer|\.safetensors|\.gguf|"
            r"snapshots/|models--|generation_config|index\.json)"
        ),
    ),
    Rule(
        "access.disk",
        FailureClass.MODEL_ACCESS,
        ("not enough free disk", "disk quota exceeded"),
        "the disk is too full for the model",
        tell("Free disk space, or point HF_HOME at a bigger disk."),
        loud=True,
    ),
    Rule(
        "access.disk_full",
        FailureClass.MODEL_ACCESS,
        ("no space left on device",),
        "the disk is too full for the model",
        tell("Free disk space, or point HF_HOME at a bigger disk."),
        unless=regex(r"/dev/shm|nccl|shared memory|psm_|torch_"),
        stages=_STARTING,
    ),
    Rule(
        "access.network",
        FailureClass.MODEL_ACCESS,
        (
            "couldn't connect to",
            "can't connect to",
            "localentrynotfounderror",
            "offlinemodeisenabled",
            "outgoing traffic has been disabled",
            "cannot find the requested files in the",
            "connectionreseterror",
            "connection reset by peer",
            "connection aborted",
            "max retries exceeded with url",
            "name resolution",
            "name or service not known",
            "readtimeouterror",
            "connecttimeout",
            "read timed out",
            "incompleteread",
            "chunkedencodingerror",
            "429 client error",
            "too many requests",
            "504 server error",
            "503 server error",
            "502 server error",
            "500 server error",
            "hfhubhttperror",
            "consistency check failed",
            "proxyerror",
            "certificate verify failed",
            "download failed",
            "xet",
        ),
        "the model's files cannot be fetched",
        _OFFLINE,
        regex(
            r"Error|Exception|refused|failed|Timeout|couldn't connect|can't connect|disabled|"
            r"cannot find the requested|Client Error|reset by peer"
        ),
        regex(
            _OWN.pattern
            + r"|gloo|nccl|tcpstore|c10d|socket\.cpp|Ignore|retrying|bootstrap|mooncake|"
            r"zmq|worker|rank"
        ),
        tier=Tier.CONTEXT,
        stages=_STARTING,
    ),
    Rule(
        "access.permission",
        FailureClass.MODEL_ACCESS,
        ("permission denied",),
        "the model's folder or cache cannot be read or written",
        tell("Give the server's user the folder, or another HF_HOME."),
        regex(r"Permission denied: .*(?:hub|hugg|model|snapshots|\.lock|cache)"),
        stages=_STARTING,
    ),
    Rule(
        "access.stalled",
        FailureClass.MODEL_ACCESS,
        ("starting to load model", "fetching ", "downloading"),
        "loading began and nothing followed",
        Remedy(
            env={"HF_HUB_OFFLINE": "1"},
            words="Fetch the model to the host first, then start once more, offline.",
            auto="bounded",
        ),
        regex(r"Starting to load model \S+?\.\.\.|^(?:Fetching|Downloading) .*\d+%"),
        last=True,
    ),
)
