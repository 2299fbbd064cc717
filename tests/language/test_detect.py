"""Which texts English patterns may look at."""

import pytest

from memory_palace.language.words import tell_tongue

ENGLISH = "The gauge was read at noon and the rain had stopped by then."


@pytest.mark.parametrize(
    "text",
    [
        ENGLISH,
        "We met Zoë at the café in Curaçao.",
        "Their word for it is 道, which means the way.",
        f"# Насос\n\n{ENGLISH}",
        f"{ENGLISH}\n```\n# насос стоит в сарае\n```",
        "See [the pump](насос-стоит-в-сарае.md) and [[насос|what it is for]].",
    ],
)
def test_english_is_told_whatever_it_names(text):
    assert tell_tongue(text) == "english"


@pytest.mark.parametrize(
    "text",
    [
        "Anna Müller, José, Kraków",
        "| name | size |\n|---|---|\n| pump | 12 |",
        "```python\nfor x in the_list: print(x)\n```",
        "kubectl rollout restart deployment/web",
        "https://example.com/the/of/and",
    ],
)
def test_names_tables_and_code_tell_no_language(text):
    assert tell_tongue(text) == "unclear"
