"""The threads of a run: used again from task to task, and none that is stuck holds up another."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from relight.executor.settings import Run, Settings
from relight.executor.together import together
from relight.executor.workers import Workers
from relight.project import Project
from relight.project.loader import load
from tests.executor.playbooks import INVENTORY, Lab


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a run of nothing yet."""
    (tmp_path / "inventory").mkdir()
    (tmp_path / "inventory" / "hosts.yml").write_text(INVENTORY)
    project: Project = load(tmp_path)
    return Run(Settings(project, lambda _: None))


def test_threads_are_used_again(run: Run) -> None:
    """Task after task the same threads work: as many as items at once, and other ones than ours."""
    everybody: set[int] = set()
    for _ in range(20):
        barrier = threading.Barrier(3, timeout=20)

        def work(_: int, barrier: threading.Barrier = barrier) -> int:
            barrier.wait()
            return threading.get_ident()

        idents = together(run, [1, 2, 3], work, lambda _: 0)
        assert len(set(idents)) == 3
        everybody |= set(idents)
    assert len(everybody) == 3
    assert threading.get_ident() not in everybody


def test_results_come_in_the_order_of_the_items(run: Run) -> None:
    """Also where the first item is done last, and where fewer may run at once than there are."""
    later = threading.Event()

    def work(item: int) -> int:
        if item == 1:
            assert later.wait(20)
        later.set()
        return item * 10

    assert together(run, [1, 2], work, lambda _: 0) == [10, 20]
    later.set()
    assert together(run, [1, 2, 3], work, lambda _: 0, most=1) == [10, 20, 30]


def test_an_error_is_raised_where_the_results_are_asked_for(run: Run) -> None:
    """The first in the order of the items, and only once all have ended; the thread lives on."""
    ended: list[int] = []

    def work(item: int) -> int:
        ended.append(item)
        raise ValueError(str(item))

    for _ in range(2):
        with pytest.raises(ValueError, match="7"):
            together(run, [7, 8], work, lambda _: 0)
    assert sorted(ended) == [7, 7, 8, 8]


def test_a_stuck_thread_is_left_behind(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C an item that does not end is given up, and the next one has another thread."""
    monkeypatch.setattr("relight.executor.together.GRACE", 0.05)
    run.stop.set()
    release = threading.Event()
    assert together(run, [1], lambda _: release.wait(60), lambda _: "given up") == ["given up"]
    assert together(run, [1], lambda item: item, lambda _: 0) == [1]
    release.set()


def test_no_thread_outlives_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a run is over its threads are gone."""
    monkeypatch.setenv("HOME", str(tmp_path))
    text = "- {hosts: all, gather_facts: false, tasks: [{command: 'true'}, {command: 'true'}]}\n"
    before = set(threading.enumerate())
    assert Lab(tmp_path).run(text).recap.exit_code == 0
    _until(lambda: not {one for one in threading.enumerate() if one not in before})


def test_a_thread_that_is_busy_at_the_end_ends_after_its_job() -> None:
    """It does not wait for another job that nobody gives any more."""
    workers, release = Workers(), threading.Event()
    before = set(threading.enumerate())
    workers.start(lambda: (release.wait(20), lambda: None)[1])
    workers.close()
    (thread,) = set(threading.enumerate()) - before
    assert thread.is_alive()
    release.set()
    _until(lambda: not thread.is_alive())


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)
