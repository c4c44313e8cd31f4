"""Template files: Ansible's text rules, and shell quoting by default."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight.core.language.templating import TemplateFault
from relight.core.language.text_template import render_text, undeclared


def test_text_follows_ansible() -> None:
    """Blocks eat their newline, None prints as nothing, the last newline stays."""
    source = "{% for x in l %}\n- {{ x }}\n{% endfor %}\n{{ none }}|{{ [none] }}\n"
    assert render_text(source, {"l": [1, "a"], "none": None}) == "- 1\n- a\n|[None]\n"


def test_an_unknown_name_has_its_line() -> None:
    """A fault in a template file says the line."""
    with pytest.raises(TemplateFault) as caught:
        render_text("a\nb {{ nowhere }}\n", {})
    assert (caught.value.line, caught.value.name) == (2, "nowhere")
    with pytest.raises(TemplateFault) as caught:
        render_text("a\nb\n{{ x\n", {})
    assert caught.value.line >= 3


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("echo {{ a }}", "echo 'a b; $(id)'"),
        ("echo {{ words }}", "echo x 'y z' 3"),
        ("x={{ flag }} y={{ none }}", "x=true y=''"),
        ("{{ a | raw }}", "a b; $(id)"),
        ("{{ a | quote }}", "'a b; $(id)'"),
        ('echo "fixed" {{ a }} # done', "echo \"fixed\" 'a b; $(id)' # done"),
        ("a#b {{ words }}", "a#b x 'y z' 3"),
        ("cat <<'EOF'\n$x\nEOF\necho {{ words }}", "cat <<'EOF'\n$x\nEOF\necho x 'y z' 3"),
    ],
)
def test_a_shell_template_quotes_by_itself(source: str, text: str) -> None:
    """What is printed is one word, a list a word each, unless it is raw."""
    variables = {"a": "a b; $(id)", "words": ["x", "y z", 3], "flag": True, "none": None}
    assert render_text(source, variables, shell=True) == text


@pytest.mark.parametrize(
    "source",
    [
        'echo "x {{ a }}"',
        "echo 'x {{ a }}'",
        "# {{ a }}",
        "cat <<EOF\n{{ a }}\nEOF",
        "x=1 # {{ a }}",
        'echo "$(echo {{ a }})"',
    ],
)
def test_a_value_where_quoting_does_not_protect_is_refused(source: str) -> None:
    """In quotes, comments and here-documents a value must be raw on purpose."""
    with pytest.raises(TemplateFault, match="quoting does not protect"):
        render_text(source, {"a": "b"}, shell=True)


@given(st.text(alphabet=st.characters(exclude_characters="\0", codec="utf-8")))
def test_every_text_is_one_word(text: str) -> None:
    """Whatever a value holds, the shell reads it back as that one word."""
    import shlex  # noqa: PLC0415

    rendered = render_text("echo {{ a }} end", {}, {"a": text}, shell=True)
    assert shlex.split(rendered) == ["echo", text, "end"]


def test_the_names_a_template_needs_are_known_beforehand() -> None:
    """Names that are set inside, and Jinja's own, are not asked for."""
    assert undeclared("{% set a = b %}{{ a }}{% for x in range(c) %}{{ x }}{% endfor %}") == {
        "b",
        "c",
    }
