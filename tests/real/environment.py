"""Makes a real SGLang for the CPU and a tiny model for it: `environment.py ensure 0.5.10`.

    ensure VERSION    the environment of one SGLang version; prints the path of its python
    model             the tiny model; prints the path of its folder

Both lie in the cache (RELIGHT_CACHE, else ~/.cache/relight) under a key of all that they are made
of, so a second call returns at once, and two calls at the same time make one. An environment takes
about a minute, 0.6 GB of downloads and 2.5 GB of disk.

What is in it: a virtual environment of Python 3.11 with the packages of lock-VERSION.txt, and the
two stand-ins of shims/, which a .pth file loads at each start of its python. SGLang and torch are
as published. pip runs with --no-deps: SGLang's own requirements name CUDA builds of many GB; the
lock is what the server and its benchmark really import.

torch must be a CPU build. The lock asks for it by its full version, 2.13.0+cpu, which PyPI does not
have: pip needs a folder or an index that does (PIP_FIND_LINKS, PIP_EXTRA_INDEX_URL or pip.conf).

A host uses it as `relight_engine: {python: PATH}`. No variable has to be set for one worker. For
two on a machine with one NUMA node SGLang wants SGLANG_CPU_OMP_THREADS_BIND=0|1 (the core of each):
with --tp-size 2 in both versions; with --dp-size 2 in 0.5.23, while 0.5.10 refuses it there.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
if not __package__:  # run as a script
    sys.path.insert(0, str(HERE.parents[1]))

from tests.made_once import cache, contents, key, made_once  # noqa: E402 - the path comes first

VERSIONS: Final = ("0.5.10", "0.5.23")
ATTEMPTS: Final = 3


class CannotMakeError(Exception):
    """An environment cannot be made here; the message says what is missing and how to get it."""


def say(text: str) -> None:
    """Show progress on stderr; stdout carries the path alone."""
    sys.stderr.write(f"environment: {text}\n")
    sys.stderr.flush()


def base_python() -> str:
    """Return a Python 3.11 that can make virtual environments.

    The system's own comes first: a Debian 12 test host has the same one in the same place, so that
    an environment made here works there too. Raises CannotMakeError when there is none.
    """
    question = "import ensurepip, sys; sys.exit(sys.version_info[:2] != (3, 11))"
    for candidate in ("/usr/bin/python3.11", shutil.which("python3.11"), sys.executable):
        if candidate and Path(candidate).exists():
            answer = subprocess.run([candidate, "-c", question], capture_output=True, check=False)
            if answer.returncode == 0:
                return candidate
    raise CannotMakeError(
        "no Python 3.11 with the venv module; the locked wheels are for 3.11"
        " (Debian: apt-get install python3.11-venv)"
    )


def run(command: Sequence[str | Path], otherwise: str) -> None:
    """Run a command with its output on stderr; raise CannotMakeError(otherwise) when it fails."""
    done = subprocess.run(command, stdout=sys.stderr, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise CannotMakeError(f"{otherwise} (exit {done.returncode})")


def install(python: Path, lock: Path) -> None:
    """Install the lock with pip, again after a failure: what was fetched is in pip's cache."""
    pip = [
        str(python),
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--no-input",
        "--retries",
        "5",
        "-r",
        str(lock),
    ]
    for attempt in range(1, ATTEMPTS + 1):
        say(f"installing {lock.name} (attempt {attempt} of {ATTEMPTS})")
        if subprocess.run(pip, stdout=sys.stderr, check=False).returncode == 0:
            return
    raise CannotMakeError(
        f"pip could not install {lock.name}, see its messages above; if it found no"
        " torch==2.13.0+cpu, name a folder or an index that has it in PIP_FIND_LINKS or"
        " PIP_EXTRA_INDEX_URL"
    )


def build(folder: Path, version: str, base: str) -> None:
    """Make the environment of a version in an empty folder and see that SGLang loads in it."""
    started = time.monotonic()
    # Test hosts read it as an ordinary user.
    before = os.umask(0o022)
    try:
        run([base, "-m", "venv", folder], f"{base} could not make a virtual environment")
        python = folder / "bin" / "python"
        install(python, HERE / f"lock-{version}.txt")
        packages = folder / "lib" / "python3.11" / "site-packages"
        shutil.copytree(
            HERE / "shims",
            packages,
            copy_function=shutil.copyfile,
            dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        # A .pth file, as Debian's own sitecustomize would hide ours.
        (packages / "relight_cpu.pth").write_text("import relight_cpu\n", encoding="utf-8")
        say("loading SGLang")
        question = f"import sglang.srt.server_args; assert sglang.__version__ == '{version}'"
        run([python, "-c", question], f"SGLang {version} was installed and does not load")
    finally:
        os.umask(before)
    say(f"SGLang {version} made in {time.monotonic() - started:.0f} s")


def ensure(version: str) -> Path:
    """Return the python of the environment with this SGLang; make it when it is not there yet.

    Raises CannotMakeError.
    """
    if version not in VERSIONS:
        raise CannotMakeError(f"no lock for SGLang {version}; there are {', '.join(VERSIONS)}")
    base = base_python()
    lock = (HERE / f"lock-{version}.txt").read_bytes()
    place = cache() / f"sglang-{version}-{key(base, lock, *contents(HERE / 'shims'))}"
    return made_once(place, lambda folder: build(folder, version, base)) / "bin" / "python"


def model() -> Path:
    """Return the folder of the tiny model; write it when it is not there yet."""
    maker = HERE / "make_model.py"
    place = cache() / f"tiny-qwen3-{key(maker.read_bytes())}"

    def write(folder: Path) -> None:
        run([sys.executable, maker, folder], "the tiny model could not be written")

    return made_once(place, write)


def main(arguments: Sequence[str]) -> int:
    """Do what the command line asks; return 0, or 1 when it cannot be made."""
    parser = argparse.ArgumentParser(description="A real SGLang on the CPU, for tests.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("ensure").add_argument("version", choices=VERSIONS)
    commands.add_parser("model")
    chosen = parser.parse_args(arguments)
    try:
        path = ensure(chosen.version) if chosen.command == "ensure" else model()
    except CannotMakeError as error:
        say(f"cannot make it: {error}")
        return 1
    sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
