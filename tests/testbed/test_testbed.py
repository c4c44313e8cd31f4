"""Ring 4's ground: what the test hosts do when they are booted, cut, silenced and taken away."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deadline import until
from tests.testbed.bed import Testbed
from tests.testbed.control_groups import hierarchies
from tests.testbed.fixtures import lent
from tests.testbed.node import Bind
from tests.testbed.process import Process
from tests.testbed.record import Record
from tests.testbed.tools import CannotRunError, require

pytestmark = pytest.mark.testbed

CLI = Path(__file__).with_name("cli.py")
NOBODY = 65534
BOOT_ID = "cat /proc/sys/kernel/random/boot_id"


def said(bed: Testbed, number: int, command: str, user: str = "relight") -> str:
    """Return what a command on a host says, which must succeed."""
    answer = bed.ssh(number, command, user=user)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


def leftovers(slot: int) -> list[str]:
    """Return what is there of a testbed: links, mounts, control groups, processes, rules."""
    names = (f"relight{slot}", f"vb-rl{slot}-")
    links = [p.name for p in Path("/sys/class/net").iterdir() if p.name.startswith(names)]
    groups = [str(p) for h in hierarchies() for p in h.glob(f"relight-testbed-{slot}-*")]
    processes = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and Process.of(int(entry.name)):
            words = (entry / "cmdline").read_bytes().decode(errors="replace")
            processes += [words] if f"--machine=rl{slot}-" in words else []
    tables = subprocess.run(["nft", "list", "tables"], capture_output=True, text=True, check=True)
    rules = [line for line in tables.stdout.splitlines() if line.endswith(f" relight{slot}")]
    return [*links, *groups, *processes, *rules]


def mounts_below(folder: Path) -> list[str]:
    """Return what is mounted below a folder."""
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    return [line for line in mounts if line.split()[1].startswith(f"{folder}/")]


def wait_for_systemd(bed: Testbed, number: int) -> None:
    """Return when the systemd of a host has started everything, and nothing failed."""
    ask = "systemctl is-system-running"
    until(lambda: bed.ssh(number, ask).stdout == "running\n", 30, f"systemd of host {number}")


def cli(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a person would."""
    return subprocess.run(
        [sys.executable, CLI, "--name", f"cli-{os.getpid()}", *words],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def spare() -> Iterator[Testbed]:
    """A second testbed, empty."""
    with lent("spare") as bed:
        yield bed


def test_hosts_are_whole_systems(testbed: Testbed) -> None:
    """Both hosts run a healthy systemd of their own, and let in the user, who may be root."""
    for number in (1, 2):
        wait_for_systemd(testbed, number)
        assert said(testbed, number, "hostname; whoami; sudo -n whoami").split() == [
            f"node{number}",
            "relight",
            "root",
        ]
        assert said(testbed, number, "whoami", user="root") == "root"
    assert said(testbed, 1, "cat /etc/machine-id") != said(testbed, 2, "cat /etc/machine-id")


def test_host_keys_are_known(testbed: Testbed) -> None:
    """The known_hosts file is what lets ssh in: with an empty one it refuses the host."""
    config = str(testbed.access.config)
    words = ["ssh", "-F", config, "-o", "UserKnownHostsFile=/dev/null", "node1", "true"]
    answer = subprocess.run(words, capture_output=True, text=True, check=False)
    assert answer.returncode == 255
    assert "Host key verification failed" in answer.stderr


def test_units_of_two_hosts_are_apart(testbed: Testbed) -> None:
    """A unit that is stopped on one host goes on running on the other."""
    for number in (1, 2):
        said(testbed, number, "sudo systemd-run --quiet --unit=same sleep 600")
    said(testbed, 1, "sudo systemctl stop same")
    assert testbed.ssh(1, "systemctl is-active same").stdout == "inactive\n"
    assert said(testbed, 2, "systemctl is-active same") == "active"
    said(testbed, 2, "sudo systemctl stop same")


def test_reboot_keeps_files_and_nothing_else(testbed: Testbed) -> None:
    """After a reboot a file is there; what ran, /run and the boot id are not the same."""
    before = said(testbed, 1, BOOT_ID)
    said(testbed, 1, "echo kept >kept; sudo touch /run/lost; setsid sleep 6001 >&- 2>&- <&- &")
    testbed.reboot(1)
    assert said(testbed, 1, "cat kept") == "kept"
    assert testbed.ssh(1, "test -e /run/lost").returncode == 1
    assert testbed.ssh(1, "pgrep -f '[s]leep 6001'").returncode == 1
    assert said(testbed, 1, BOOT_ID) != before


def test_reboot_from_inside_comes_back(testbed: Testbed) -> None:
    """A host that reboots itself comes back by itself."""
    before = said(testbed, 1, BOOT_ID)
    testbed.ssh(1, "sudo systemctl reboot")
    until(lambda: testbed.ssh(1, BOOT_ID).stdout.strip() not in {"", before}, 60, "a new boot")


def test_power_cut_ends_all_and_stays(testbed: Testbed) -> None:
    """After a power cut nothing runs and nothing answers until the power is on again."""
    before = said(testbed, 1, "echo kept >kept; " + BOOT_ID)
    testbed.power_cut(1)
    assert [host.power for host in testbed.status()] == ["off", "on"]
    assert not testbed.answers(1)
    assert not testbed.node(1).group.populated()
    testbed.power_on(1)
    assert said(testbed, 1, "cat kept") == "kept"
    assert said(testbed, 1, BOOT_ID) != before


def test_power_off_is_in_order(testbed: Testbed) -> None:
    """A power-off stops units the way they want to be stopped, which a power cut does not."""
    script = "trap 'echo stopped >/home/relight/stopped; exit' TERM; sleep 600 & wait"
    said(testbed, 1, f'sudo systemd-run --quiet sh -c "{script}"')
    testbed.power_off(1)
    assert testbed.status()[0].link == "absent"
    testbed.power_on(1)
    assert said(testbed, 1, "cat stopped") == "stopped"


def test_cut_takes_the_carrier(testbed: Testbed) -> None:
    """A cut host cannot be reached and sees that its plug is out; its neighbour is unharmed."""
    testbed.cut(1)
    assert not testbed.answers(1)
    assert [(host.link, host.answers) for host in testbed.status()] == [
        ("cut", False),
        ("up", True),
    ]
    testbed.heal(1)
    testbed.wait(1)
    assert "Lost carrier" in said(testbed, 1, "sudo journalctl --boot --unit=systemd-networkd")


def test_silence_neither_answers_nor_refuses(testbed: Testbed) -> None:
    """A silent host resets nothing: an open connection hangs, and goes on once it is healed."""
    address = testbed.node(1).address
    with socket.create_connection((address, 22), 5) as connection:
        assert connection.recv(100).startswith(b"SSH-2.0")
        testbed.silence(1)
        connection.sendall(b"SSH-2.0-test\r\n")
        connection.settimeout(2)
        with pytest.raises(TimeoutError):
            connection.recv(100)
        with pytest.raises(TimeoutError):
            socket.create_connection((address, 22), 2)
        assert testbed.status()[1].answers
        testbed.heal(1)
        connection.settimeout(30)
        assert connection.recv(100)


def test_silence_outlasts_a_power_cut(testbed: Testbed) -> None:
    """A host that comes up while it is silenced is silent from its first packet on."""
    testbed.silence(1)
    testbed.power_cut(1)
    testbed.power_on(1, wait=False)
    until(lambda: testbed.node(1).boot() is not None, 30, "a boot")
    until(lambda: testbed.status()[0].link == "silent", 30, "a link")
    assert not testbed.answers(1)
    testbed.heal(1)
    testbed.wait(1)


def test_binds_show_folders_of_this_machine(spare: Testbed, tmp_path: Path) -> None:
    """A bound folder is there on the host, to read only unless it is writable."""
    for name in ("read", "write"):
        (tmp_path / name).mkdir()
    (tmp_path / "read" / "file").write_text("seen", encoding="utf-8")
    read, write = (str(tmp_path / name) for name in ("read", "write"))
    spare.up(1, [Bind(read, "/opt/read:only"), Bind(write, "/opt/write", writable=True)])
    assert said(spare, 1, "cat /opt/read:only/file") == "seen"
    assert spare.ssh(1, "sudo touch /opt/read:only/new").returncode == 1
    said(spare, 1, "sudo touch /opt/write/new")
    assert (tmp_path / "write" / "new").exists()


def test_down_leaves_nothing(spare: Testbed) -> None:
    """After down there is no link, mount, group, process, rule or file of it; twice is no fault."""
    spare.up(1)
    slot, folder = spare.network.slot, Path(spare.access.folder)
    assert len(leftovers(slot)) >= 5
    assert mounts_below(folder)
    spare.down()
    assert leftovers(slot) == []
    assert mounts_below(folder) == []
    assert not folder.exists()
    spare.down()


def test_what_a_killed_process_left_is_brought_down(spare: Testbed) -> None:
    """The testbed of a process that was killed goes when the next one is opened."""
    script = (
        "import os, signal\n"
        "from tests.testbed.bed import Testbed\n"
        "from tests.testbed.process import Process\n"
        "bed = Testbed.open(f'killed-{os.getppid()}', owner=Process.of(os.getpid()))\n"
        "bed.up(1)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script], cwd=root, check=False)
    assert done.returncode == -9
    left = Record.read(f"killed-{os.getpid()}")
    assert left
    assert leftovers(left.slot)
    Testbed.open(f"spare-{os.getpid()}")
    assert leftovers(left.slot) == []
    assert Record.read(left.name) is None
    assert spare.network.exists()


def test_command_line(spare: Testbed) -> None:
    """By hand: up, a look, a power cut, down; and a plain word for what is not there."""
    try:
        assert cli("status").returncode == 1
        up = cli("up", "1")
        assert up.returncode == 0, up.stderr
        assert "node1" in up.stdout
        assert cli("up", "1").stdout == up.stdout
        assert cli("power-cut", "1").returncode == 0
        assert "off  absent  does not answer" in cli("status").stdout
        wrong = cli("reboot", "7")
        assert (wrong.returncode, wrong.stderr.count("\n")) == (1, 1)
        assert "no host 7" in wrong.stderr
    finally:
        assert cli("down").returncode == 0
    assert cli("down").returncode == 0
    assert spare.network.exists()


def test_needs_root() -> None:
    """An ordinary user is told that it needs root, before anything is tried."""
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    try:
        with pytest.raises(CannotRunError, match="needs root"):
            require()
    finally:
        os.seteuid(os.getuid())


def test_invoke_tasks_do_what_the_command_line_does() -> None:
    """`inv testbed.up 1` and its companions boot, cut and remove a host, and refuse in words."""
    name = f"invoked-{os.getpid()}"

    def inv(*words: str) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).with_name("inv")), *words, "--name", name]
        root = Path(__file__).resolve().parents[2]
        return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)

    try:
        up = inv("testbed.up", "1")
        assert up.returncode == 0, up.stderr
        assert "node1" in up.stdout
        assert inv("testbed.power-cut", "1").returncode == 0
        assert "off" in inv("testbed.status").stdout
        refused = inv("testbed.reboot", "7")
        assert refused.returncode == 1
        assert "no host 7" in refused.stderr
    finally:
        assert inv("testbed.down").returncode == 0
    assert Testbed.find(name) is None
