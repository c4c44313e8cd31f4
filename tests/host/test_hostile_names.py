"""Names that processes and files give themselves make nobody the server's, and nobody else's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.deadline import until
from tests.host.served import Served, alive

RENAMED = """
import pathlib, time
pathlib.Path("/proc/self/comm").write_text({name!r})
print("up", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize(
    "name", ["a\n{pid} (b", "a) Z 1\nb", "a b) (c", "\n\n) X 1 1", "-1 * $(ls)"]
)
def test_a_process_with_an_odd_name_is_itself(served: Served, tmp_path: Path, name: str) -> None:
    """Its session makes it the server's, whatever its name says; no other is taken for it."""
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as other:
        try:
            engine = tmp_path / "engine.py"
            engine.write_text(RENAMED.format(name=name.format(pid=other.pid)))
            served.lock()
            said = served.folder / "said"
            words = f"exec env -u RELIGHT_LAUNCH python3 {engine} >{said} 2>&1"
            pid = served.start("0001-a-0", words)
            until(lambda: said.exists() and "up" in said.read_text(), 20, "its first word")
            observed = served.observed()
            assert (observed.state, observed.pids) == ("running", (pid,))
            served.do("stop", 5)
            assert not alive(pid)
            assert other.poll() is None
        finally:
            other.kill()


@pytest.mark.parametrize("before", ["x ", "x\nl-wx------ 1 0 0 64 Jan  1 00:00 "])
def test_a_file_that_is_named_like_a_link_proves_nothing(
    served: Served, tmp_path: Path, before: str
) -> None:
    """A stranger's log whose path looks like a link to the server's makes nobody the server's."""
    served.lock()
    pid = served.start("0001-a-0", "echo up; exec sleep 600")
    until(lambda: "up" in served.log(), 20, "the engine's first word")
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as other:
        claim = f"{before}/proc/{other.pid}/fd/1 -> {served.launch('server.log')}"
        log = Path(f"{tmp_path}/{claim}")
        log.parent.mkdir(parents=True)
        with (
            log.open("w") as out,
            subprocess.Popen(["sleep", "600"], stdout=out, start_new_session=True) as stranger,
        ):
            try:
                assert served.observed().pids == (pid,)
                served.do("stop", 5)
                assert (other.poll(), stranger.poll()) == (None, None)
            finally:
                stranger.kill()
                other.kill()


def test_a_log_that_was_taken_away_is_still_its_own(served: Served) -> None:
    """A child without marker and session is known by the server's log, though its name is gone."""
    served.lock()
    away = f"setsid env -i sh -c 'echo $$ >{served.folder}/away; exec sleep 600' & "
    served.start("0001-a-0", away + "exec sleep 600")
    told = served.folder / "away"
    until(lambda: told.exists() and told.read_text().strip() != "", 20, "a child")
    served.launch("server.log").unlink()
    assert int(told.read_text()) in served.observed().pids
