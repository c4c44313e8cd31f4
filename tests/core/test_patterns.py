"""Host patterns choose the hosts that Ansible chooses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.inventory import Group, Inventory
from relight.core.patterns import hosts, split
from relight.errors import UsageError

GROUPS = {
    "all": Group("all", hosts={"solo": None}, children=dict.fromkeys(["web", "prod"])),
    "web": Group("web", hosts=dict.fromkeys(["w1", "w2", "w3"])),
    "db": Group("db", hosts=dict.fromkeys(["d1", "w2"])),
    "prod": Group("prod", children=dict.fromkeys(["db"]), hosts={"w.example": None}),
    "empty": Group("empty"),
}
INVENTORY = Inventory(["w1", "w2", "w3", "d1", "w.example", "solo"], GROUPS)

# Seen with ansible-core 2.19 on this inventory (`ansible PATTERN --list-hosts`).
CHOICES = [
    ("w1", ["w1"]),
    ("web", ["w1", "w2", "w3"]),
    ("web:db", ["w1", "w2", "w3", "d1"]),
    ("db:web", ["d1", "w2", "w1", "w3"]),
    ("web,db", ["w1", "w2", "w3", "d1"]),
    (" web , db ", ["w1", "w2", "w3", "d1"]),
    ("web:&db", ["w2"]),
    ("&db:web", ["w2"]),
    ("web:!db", ["w1", "w3"]),
    ("!db:web", ["w1", "w3"]),
    ("!w1:w1", []),
    ("web:&prod:!w2", []),
    ("!web", ["solo", "w.example", "d1"]),
    ("prod", ["w.example", "d1", "w2"]),
    ("all", ["solo", "w1", "w2", "w3", "w.example", "d1"]),
    ("*", ["solo", "w1", "w2", "w3", "w.example", "d1"]),
    ("ungrouped", ["solo"]),
    ("empty", []),
    ("w?", ["w1", "w2", "w3"]),
    ("[dw]1", ["w1", "d1"]),
    ("w*", ["w1", "w2", "w3", "w.example"]),
    ("*.example", ["w.example"]),
    ("w.example", ["w.example"]),
    ("~w[12]", ["w1", "w2"]),
    ("~(web|d1)", ["w1", "w2", "w3", "d1"]),
    ("web[0]", ["w1"]),
    ("web[-1]", ["w3"]),
    ("web[1:2]", ["w2", "w3"]),
    ("web[1:]", ["w2", "w3"]),
    ("web[0:0]", ["w1"]),
    ("web[0]:db[0]", ["w1", "d1"]),
    ("web:!web[0]", ["w2", "w3"]),
    ("web[1:9]", ["w2", "w3"]),
]


@pytest.mark.parametrize(("pattern", "chosen"), CHOICES)
def test_a_pattern_chooses_these_hosts(pattern: str, chosen: list[str]) -> None:
    """The hosts and their order."""
    assert list(hosts(INVENTORY, pattern)) == chosen


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("wob", "did you mean web"),
        ("web:!prd", "did you mean prod"),
        ("web:&nothing-like-it", "there are: w1"),
        ("x*", "matches"),
        ("~^q", "matches"),
        ("~(", "no regular expression"),
        ("web[7]", "counted from 0"),
        ("web[-4]", "counted from 0"),
        ("", "empty"),
        (" , ", "empty"),
        ("web:!", "no name behind"),
        ("a" * 5000, "too long"),
    ],
)
def test_a_name_that_nothing_has_is_an_error_in_words(pattern: str, words: str) -> None:
    """Also in what is taken away: a typo there would deploy to the host that was to be spared."""
    with pytest.raises(UsageError, match=words):
        hosts(INVENTORY, pattern)


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("a:b:!c", ("a", "b", "!c")),
        ("a,b:c", ("a", "b:c")),
        ("2001:db8::1", ("2001:db8::1",)),
        ("a[1:3]", ("a[1:3]",)),
        ("a[1:3]:b", ("a[1:3]", "b")),
        ("~a[0:9]:b", ("~a[0:9]", "b")),
    ],
)
def test_colons_split_only_between_parts(pattern: str, parts: tuple[str, ...]) -> None:
    """Not inside of brackets or an address; and not at all where there is a comma."""
    assert split(pattern) == parts


NAMES = st.sampled_from(["w1", "w2", "web", "db", "prod", "all", "solo", "w*", "~d", "empty"])
SEPARATORS = st.sampled_from([":", ","])


@given(NAMES, NAMES, SEPARATORS)
def test_laws_of_sets(one: str, two: str, sep: str) -> None:
    """Joining, keeping and taking away are those of sets, wherever the signs stand."""
    first, second = set(hosts(INVENTORY, one)), set(hosts(INVENTORY, two))
    assert set(hosts(INVENTORY, f"{one}{sep}{two}")) == first | second
    assert set(hosts(INVENTORY, f"{one}{sep}&{two}")) == first & second
    assert set(hosts(INVENTORY, f"{one}{sep}!{two}")) == first - second
    assert hosts(INVENTORY, f"!{two}{sep}{one}") == hosts(INVENTORY, f"{one}{sep}!{two}")
    assert hosts(INVENTORY, f"{one}{sep}{one}") == hosts(INVENTORY, one)


@given(st.text(alphabet="aw12db:,&!*?[]~.()|\\-0 \n{}$", max_size=20))
def test_any_pattern_is_hosts_or_an_error_in_words(pattern: str) -> None:
    """Each host once; no other exception."""
    try:
        chosen = hosts(INVENTORY, pattern)
    except UsageError:
        return
    assert len(chosen) == len(set(chosen))
    assert set(chosen) <= set(INVENTORY.hosts)


def test_what_means_nothing_may_be_taken_down() -> None:
    """As in Ansible the rest of the pattern counts; only a name that was to be spared must be."""
    missing: list[str] = []
    assert hosts(INVENTORY, "web:nosuch:&alsonot", missing) == ()
    assert hosts(INVENTORY, "nosuch2,db", missing) == ("d1", "w2")
    assert missing == ["nosuch", "alsonot", "nosuch2"]
    with pytest.raises(UsageError):
        hosts(INVENTORY, "web:!nosuch", missing)
