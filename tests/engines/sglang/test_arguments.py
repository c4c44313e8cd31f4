"""The `server_args=` line is read in both its forms, whole or torn, and without secrets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relight.engines.sglang.arguments import Arguments, arguments_of

OLD = (
    "server_args=ServerArgs(model_path='/m, x', tp_size=2, api_key='s3cret', mem_fraction=0.8, "
    "cuda_graph_bs=[1, 2], cuda_graph_config=CudaGraphConfig(decode=PhaseConfig(bs=[1])), x=None)"
)
NEW = "server_args={'model_path': '/m, x', 'tp_size': 2, 'api_key': 's3cret', 'ok': True}"


def test_both_forms_are_read() -> None:
    """0.5.10 to 0.5.15 print a dataclass, 0.5.23 a mapping."""
    old, new = arguments_of(OLD), arguments_of(NEW)
    assert old["model_path"] == new["model_path"] == "/m, x"
    assert old["tp_size"] == 2
    assert old["cuda_graph_bs"] == [1, 2]
    assert "PhaseConfig" in str(old["cuda_graph_config"])
    assert new["ok"] is True


def test_secrets_are_left_out() -> None:
    """No key is ever kept, in whichever form."""
    for line in (OLD, NEW, OLD[:-40], NEW.replace("}", ", <object at 0x7f>}")):
        assert "api_key" not in arguments_of(line)


def test_a_torn_line_gives_what_it_has() -> None:
    """A line that was cut, or holds an object's address, still gives its plain values."""
    assert arguments_of(OLD[:60])["model_path"] == "/m, x"
    assert arguments_of("server_args=ServerArgs(a=<x at 0x1>, tp_size=4, f='g')")["tp_size"] == 4


def test_it_is_read_when_asked_for() -> None:
    """The mapping is lazy, and the same however often it is asked."""
    lazy = Arguments(NEW)
    assert dict(lazy) == arguments_of(NEW)
    assert len(lazy) == 3
    assert lazy["tp_size"] == 2


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    """Hostile or broken text gives a mapping, never an error."""
    for form in (f"server_args=ServerArgs({text})", f"server_args={{{text}}}", "(" * 5000):
        arguments_of(form)
