"""The detokenizer process: passes on what the scheduler says, so that its death is felt."""

from __future__ import annotations

import os
import time

from relight.standin.processes import die_with_parent, set_title
from relight.standin.settings import Settings

_TITLE = "sglang::detokenizer"
_IMPORTED = 6.0


def run(settings: Settings, began: float, main: int, inbox: int, outbox: int) -> None:
    """Copy `inbox` to `outbox` until killed.

    As SGLang's: one whose parent went while it was importing stays, and nothing would end it.
    """
    while time.monotonic() < began + settings.real(_IMPORTED):
        time.sleep(0.01)
    set_title(_TITLE, _TITLE)
    if os.getppid() == main:
        die_with_parent()
    while True:
        data = os.read(inbox, 1 << 16)
        if not data:
            # The scheduler is gone; the real one waits on its socket for ever.
            time.sleep(3600)
            continue
        while data:
            data = data[os.write(outbox, data) :]
