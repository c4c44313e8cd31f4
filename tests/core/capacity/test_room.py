"""Room for the weights on the GPUs that a service is bound to, judged from what the driver says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relight.core.capacity.room import crowded
from relight.core.facts import Gpu, GpuHolder, HostFacts

HELD = GpuHolder(index=0, pid=77, command="python train.py")


def host(*used: int | None, holders: tuple[GpuHolder, ...] = ()) -> HostFacts:
    """Return a host with a GPU of 48 GiB for each figure of used memory."""
    gpus = tuple(
        Gpu(index=number, name="RTX A6000", memory_mib=49140, used_mib=one)
        for number, one in enumerate(used)
    )
    return HostFacts(gpus=gpus, gpu_holders=holders)


def test_who_holds_the_memory_is_named() -> None:
    """The sentence says which GPU, how much is free, what is needed, and by whom it is held."""
    said = crowded(host(30000, 4, holders=(HELD,)), (0, 1), 27000)
    assert said == (
        "GPU 0 has 19140 of 49140 MiB free, and the weights alone take 27000; "
        "held by pid 77: python train.py"
    )


def test_nobody_to_be_seen() -> None:
    """Memory that no visible process holds is told as that: /proc of a container shows its own."""
    said = crowded(host(48000), (0,), 27000)
    assert said is not None
    assert "nobody that this user can see" in said


def test_another_gpu_does_not_matter() -> None:
    """A service bound to GPU 1 starts whatever happens on GPU 0."""
    assert crowded(host(48000, 4), (1,), 27000) is None


def test_without_a_binding_one_gpu_with_room_is_enough_to_try() -> None:
    """Which GPUs an engine takes is its own choice then; all of them full leaves it none."""
    assert crowded(host(48000, 4), (), 27000) is None
    assert crowded(host(48000, 48000), (), 27000) is not None


@given(
    st.lists(st.integers(0, 49140) | st.none(), max_size=4),
    st.floats(0, 60000, allow_nan=False),
)
def test_a_launch_is_only_refused_where_it_must_fail(used: list[int | None], needed: float) -> None:
    """Refused means: a GPU it is bound to has less free than the weights take; unknown never is."""
    bound = tuple(range(len(used)))
    full = [one for one in used if one is not None and 49140 - one < needed]
    assert (crowded(host(*used), bound, needed) is not None) == bool(full)
