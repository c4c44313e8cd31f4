"""What the host writes when it cannot write: torn lines, a full disk, a read-only home."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deadline import until
from tests.host.served import Served, alive, script_text

RUNS = "echo up; exec sleep 600"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Served]:
    """A service on a file system of 3 MiB, which only root can make."""
    if os.geteuid():
        pytest.skip("only root can mount a small file system")
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", place], check=True)
    try:
        folder = place / ".relight" / "main"
        folder.mkdir(parents=True)
        (folder / "host.sh").write_text(script_text())
        service = Served(folder)
        yield service
        service.end()
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def fill(served: Served) -> None:
    """Take the last byte of the disk."""
    with (served.folder.parent / "filler").open("ab", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                continue


def test_torn_line_costs_itself_only(served: Served) -> None:
    """A line that a power cut tore is closed by the next one; everything else can be read."""
    served.lock()
    with (served.folder / "ledger.jsonl").open("a") as file:
        file.write('{"t":"2026-01-01T00:00:00Z","event":"star')
    served.do("record", "after", '"x":1')
    ledger = served.ledger()
    assert [entry.event for entry in ledger.entries] == ["locked", "after"]
    assert ledger.unreadable == 1
    assert served.observed().ledger.unreadable == 1


def test_promotion_that_lost_its_line_gets_it_back(served: Served) -> None:
    """Power that is cut between the link and the line leaves a known-good that nobody promoted."""
    served.lock()
    served.start("0001-good-0", RUNS)
    served.do("promote", "0001-good-0")
    ledger = served.folder / "ledger.jsonl"
    lines = ledger.read_text().splitlines(keepends=True)
    ledger.write_text("".join(line for line in lines if '"promoted"' not in line))
    served.do("unlock")
    for _ in range(2):
        served.lock()
        served.do("unlock")
    found = [one for one in served.ledger().entries if one.event == "promoted"]
    assert [one.text("release") for one in found] == ["0001-good-0"]
    assert found[0].text("why") == "found so after an interruption"


def test_lines_of_many_writers_stay_whole(served: Served) -> None:
    """Ten writers at once leave ten whole lines."""
    served.lock()
    writers = [served.begin("record", served.fence, "one", f'"n":{n}') for n in range(10)]
    assert [writer.wait(60) for writer in writers] == [0] * 10
    entries = [entry for entry in served.ledger().entries if entry.event == "one"]
    assert sorted(entry.details["n"] for entry in entries) == list(range(10))
    assert served.ledger().unreadable == 0


def test_full_disk_refuses_a_deploy_before_it_begins(small: Served) -> None:
    """On a full disk the lock is refused in plain words: nothing was stopped yet."""
    fill(small)
    refused = small.call("lock", 60, "{}")
    assert refused.returncode == 74
    assert "disk full" in refused.stderr


def test_disk_that_fills_up_cannot_take_the_way_back(small: Served) -> None:
    """With the disk full in the middle of a deploy, the dead-man still returns to known-good."""
    small.lock()
    small.start("0001-good-0", RUNS)
    small.do("promote", "0001-good-0")
    small.do("arm", 60)
    small.do("stop", 5)
    fill(small)
    small.do("arm", 0)
    until(lambda: "rolled_back" in small.events(), 30, "a return to known-good")
    assert small.observed().confirmed
    assert small.ledger().unreadable <= 1


def test_read_only_home_leaves_the_server_alone(small: Served) -> None:
    """Where nothing can be written, a stop is refused before the first signal."""
    small.lock()
    pid = small.start("0001-good-0", RUNS)
    place = small.folder.parents[1]
    # The engine's log is open for writing, so the mount itself cannot turn: one on top of it can.
    subprocess.run(["mount", "--bind", place, place], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True)
    try:
        refused = small.call("stop", small.fence, 5)
        assert refused.returncode == 74
        assert "read-only" in refused.stderr
        assert alive(pid)
        assert small.observed().state == "running"
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)
