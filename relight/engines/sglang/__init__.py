"""SGLang: how it is launched, what its log says, what its flags mean, why it fails."""

from __future__ import annotations

from relight.engines.sglang.plugin import Sglang

ENGINE = Sglang()
