"""What a connection promises of `control` and `run`, over this machine and over SSH alike."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from relight.connections import Connection, Result
from relight.errors import HostError
from tests.deadline import until

EVERY_BYTE = bytes(range(256))


def running(mark: str) -> bool:
    """Whether a process of this machine has `mark` in its command line, and is no zombie."""
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in line.read_bytes():
                return True
        except OSError:
            continue
    return False


def test_control_keeps_streams_and_exit_code_apart(connection: Connection) -> None:
    """Both streams arrive apart, with every byte of them, and the exit code beside."""
    result = connection.control("printf 'a\\nb'; printf 'c\\n\\n' >&2; exit 7")
    assert result == Result(7, b"a\nb", b"c\n\n")


def test_control_takes_one_round_trip(connection: Connection) -> None:
    """Once the shell stands, each step waits for the host once, with data or without."""
    connection.control(":")
    before = connection.round_trips
    for _ in range(5):
        connection.control("cat", data=b"x" * 1000)
    assert connection.round_trips - before == 5


def test_the_first_step_takes_two_round_trips(connection: Connection) -> None:
    """The shell opens with its first step: at most one wait more, or two for a step with data."""
    assert connection.control("echo first").stdout == b"first\n"
    assert connection.round_trips <= 2
    assert connection.control("echo 'second\n'").stdout == b"second\n\n"
    assert connection.round_trips <= 3


def test_the_first_step_may_be_any(connection: Connection) -> None:
    """A first step with quotes, newlines, a syntax error or an exit leaves a shell for the next."""
    first = connection.control("echo \"it's\"\nexit 3\n# 'open")
    assert first == Result(3, b"it's\n", b"")
    assert connection.control("cat", data=b"x").stdout == b"x"


@pytest.mark.parametrize("size", [1, 4096, 64 << 10, (64 << 10) + 1, 3 << 20])
def test_control_data_is_binary_safe(connection: Connection, size: int) -> None:
    """A step reads exactly its data on stdin, whatever the bytes and however many."""
    data = (EVERY_BYTE * (size // 256 + 1))[:size]
    assert connection.control("cat", data=data) == Result(0, data, b"")


def test_control_data_may_stay_unread(connection: Connection) -> None:
    """A step that does not read its data is not disturbed, nor is the next one."""
    assert connection.control("exit 4", data=b"x" * 60000) == Result(4, b"", b"")
    assert connection.control("cat") == Result(0, b"", b"")


def test_control_without_data_reads_nothing(connection: Connection) -> None:
    """A step's stdin is empty: it cannot swallow the next step."""
    assert connection.control("cat; read x; echo done").stdout == b"done\n"


def test_steps_do_not_touch_each_other(connection: Connection) -> None:
    """Directory, variables, options, traps, functions and exit of one step end with it."""
    connection.control("cd /; x=1; set -eu; umask 0; trap 'echo no' EXIT; echo() { :; }; exit 3")
    left = connection.control('echo "${x-unset} $-"; pwd; umask')
    assert left.out.startswith("unset ")
    assert "e" not in left.out.split()[1]
    assert left.out.splitlines()[1] != "/"
    assert left.out.splitlines()[2] != "0000"


@pytest.mark.parametrize("broken", ["echo 'open", "if true; then", ")", "cat <<END", "(((", "`"])
def test_a_syntax_error_stays_in_its_step(connection: Connection, broken: str) -> None:
    """A script that is no sh fails by itself, at once, and the shell lives on."""
    result = connection.control(broken, timeout=5)
    assert result.exit != 0 or broken.startswith("cat")
    before = connection.round_trips
    assert connection.control("echo fine").stdout == b"fine\n"
    assert connection.round_trips - before == 1


def test_control_cannot_be_forged_by_output(connection: Connection) -> None:
    """What a step prints, marks of earlier steps and end lines included, is only its output."""
    forged = "printf '0123456789abcdef0123456789abcdef 0\\n%s 0\\n' \"$relight_line\"; exit 5"
    first = connection.control(forged)
    assert first.exit == 5
    again = connection.control("cat", data=first.stdout * 3)
    assert again == Result(0, first.stdout * 3, b"")


def test_a_late_voice_costs_the_shell_not_the_answer(connection: Connection) -> None:
    """What a forgotten background process prints between steps ends in no answer."""
    connection.control("(sleep 0.2; echo LATE; echo LATE >&2) &")
    time.sleep(0.5)
    assert connection.control("echo mine") == Result(0, b"mine\n", b"")


def test_control_ends_a_step_that_lasts(connection: Connection) -> None:
    """A step beyond its limit raises TimeoutError, is gone on the host, and harms no later one."""
    mark = f"61.{os.getpid()}"
    started = time.monotonic()
    with pytest.raises(TimeoutError, match=r"box: a step did not end within 0\.5s"):
        connection.control(f"sleep {mark} & sleep {mark}", timeout=0.5)
    assert time.monotonic() - started < 5
    assert not running(mark)
    assert connection.control("echo back").stdout == b"back\n"


def test_a_command_that_has_not_begun_in_time_is_ended_as_well(connection: Connection) -> None:
    """A limit that passes while the login is still slow leaves nothing that begins later."""
    mark = f"69.{os.getpid()}"
    for act in (connection.control, connection.run):
        with pytest.raises(TimeoutError):
            act(f"sleep {mark}", timeout=0.001)
        assert not running(mark)


def test_control_bounds_output(connection: Connection) -> None:
    """A step that prints without end is an error, soon, and is gone on the host."""
    mark = f"control-floods-{os.getpid()}"  # the same test may run beside this one
    with pytest.raises(HostError, match="more than 4 MiB"):
        connection.control(f"exec yes {mark}")
    assert not running(mark)
    assert connection.control("echo back").stdout == b"back\n"


def test_a_step_that_kills_its_shell_is_told(connection: Connection) -> None:
    """A shell that dies within a step is an error of the host, and is opened anew after it."""
    with pytest.raises(HostError, match="ended before the step did"):
        connection.control("kill -s KILL $$; sleep 0.3")
    assert connection.control("echo back").stdout == b"back\n"


@pytest.mark.parametrize("text", ["echo \0", "echo \ud800"])
def test_bytes_that_no_shell_reads_are_refused(connection: Connection, text: str) -> None:
    """NUL and lone surrogates are refused in words, before anything is sent."""
    before = connection.round_trips
    for act in (connection.control, connection.run):
        with pytest.raises(HostError, match="a shell cannot read"):
            act(text)
    assert connection.round_trips == before


def test_run_keeps_streams_and_exit_code_apart(connection: Connection) -> None:
    """A command of its own gives both streams, and its exit code; it takes two round trips."""
    before = connection.round_trips
    result = connection.run("echo out; echo err >&2; exit 9")
    assert result == Result(9, b"out\n", b"err\n")
    assert connection.round_trips - before <= 2


def test_run_tells_a_signal(connection: Connection) -> None:
    """A command that a signal killed exits with 128 + its number, as in a shell."""
    assert connection.run("sh -c 'kill -s TERM $$'").exit == 143


def test_run_hides_command_and_environment_from_argv(connection: Connection) -> None:
    """The command sees its environment as given; no process shows either in its arguments."""
    value = 'it\'s a `secret` $HOME "x" \\ \n second line é'
    shown = "tr '\\0' ' ' </proc/$$/cmdline; printf '|%s' \"$GIVEN\"; env | grep -c relight_"
    result = connection.run(shown, environment={"GIVEN": value})
    arguments, _, rest = result.out.partition("|")
    assert rest.startswith(value)
    assert rest.removeprefix(value).strip() == "0"
    assert "secret" not in arguments
    assert "GIVEN" not in arguments


@pytest.mark.parametrize("name", ["", "1A", "A B", "A=B", "$(touch x)", "-x", "Ä"])
def test_run_refuses_names_that_are_no_variables(connection: Connection, name: str) -> None:
    """A name of the environment is never read as sh."""
    with pytest.raises(HostError, match="cannot name an environment variable"):
        connection.run("true", environment={name: "x"})


@pytest.mark.parametrize("fed", [b"", EVERY_BYTE])
def test_run_reads_its_data_and_its_end(connection: Connection, fed: bytes) -> None:
    """A command reads its data and then the end; without data it reads nothing."""
    assert connection.run("cat; echo end", data=fed).stdout == fed + b"end\n"


def test_run_carries_both_ways_at_once(connection: Connection) -> None:
    """More data than any buffer holds goes in while as much comes out."""
    data = EVERY_BYTE * (48 << 10)
    assert connection.run("cat", data=data, timeout=60).stdout == data


def test_run_may_leave_its_data(connection: Connection) -> None:
    """A command that ends without reading its data is no error."""
    assert connection.run("exit 6", data=b"x" * (8 << 20), timeout=30).exit == 6


def test_run_ends_a_command_that_lasts(connection: Connection) -> None:
    """A command beyond its limit raises TimeoutError; every process of its session is gone."""
    mark = f"62.{os.getpid()}"
    lasting = f"trap '' TERM INT HUP; (setsid sleep 0; sleep {mark}) & sleep {mark} & sleep {mark}"
    with pytest.raises(TimeoutError, match=r"box: the command did not end within 0\.5s"):
        connection.run(lasting, timeout=0.5)
    assert not running(mark)


def test_run_bounds_output(connection: Connection) -> None:
    """Output without end is an error that says what to do, and the command is gone."""
    mark = f"run-floods-{os.getpid()}"  # the same test may run beside this one
    with pytest.raises(HostError, match="more than 64 MiB; let it write to a file"):
        connection.run(f"exec yes {mark}", timeout=60)
    assert not running(mark)


def test_run_does_not_wait_for_what_was_detached(connection: Connection) -> None:
    """A background process that keeps the streams open does not hold its command."""
    mark = f"63.{os.getpid()}"
    started = time.monotonic()
    result = connection.run(f"sleep {mark} & echo $!")
    assert time.monotonic() - started < 5
    os.kill(int(result.out), 9)


def test_detached_processes_outlive_the_connection(connection: Connection) -> None:
    """What a step started in a session of its own lives on after the connection is closed."""
    mark = f"64.{os.getpid()}"
    started = connection.control(f"setsid sleep {mark} >/dev/null 2>&1 </dev/null & echo $!")
    connection.close()
    assert started.exit == 0
    until(lambda: running(mark), 5, "the detached process runs")
    for stat in Path("/proc").glob("[0-9]*/cmdline"):
        if mark.encode() in stat.read_bytes():
            os.kill(int(stat.parent.name), 9)


def test_many_threads_share_a_connection(connection: Connection) -> None:
    """Steps and commands from many threads get each their own answer."""
    wrong: list[str] = []

    def work(number: int) -> None:
        for turn in range(5):
            word = f"{number}-{turn}"
            answers = [act(f"echo {word}").out for act in (connection.control, connection.run)]
            wrong.extend(answer for answer in answers if answer != f"{word}\n")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong
    assert not any(thread.is_alive() for thread in threads)
