"""A process whose main thread has ended counts as living while another thread holds its port."""

import subprocess
import sys
from pathlib import Path

from tests.deadline import until

HOST = Path(__file__).resolve().parents[2] / "templates" / "host"
# The system call alone: Python's own exit would wait for the other thread.
HALF_DEAD = """
import ctypes, socket, threading, time
held = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=time.sleep, args=(60,)).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def living(pid: int) -> bool:
    """Return whether the host script takes a process for living."""
    asks = f'. "{HOST}/10-ground.sh" && . "{HOST}/20-processes.sh" && living {pid}'
    return subprocess.run(["sh", "-c", asks], check=False).returncode == 0


def state(pid: int) -> str:
    """Return the letter that the kernel gives a process."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_main_thread_that_ended_is_not_the_end() -> None:
    """SGLang's processes end thread by thread; the port is back only when the last one is gone."""
    process = subprocess.Popen([sys.executable, "-c", HALF_DEAD], stderr=subprocess.PIPE)
    try:
        until(lambda: state(process.pid) == "Z", 20, "the end of the main thread")
        assert living(process.pid)
        process.kill()
        # Not reaped yet: now it is a zombie as a whole.
        until(lambda: not living(process.pid), 20, "the end of all threads")
        assert state(process.pid) == "Z"
    finally:
        process.kill()
        process.communicate()
