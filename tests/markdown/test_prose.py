import pytest

from memory_palace.markdown.markup import strip_markup


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("## Rain Gauge", "## rain gauge"),
        ("Rain Gauge\n---", "rain gauge\n---"),
        ("see `palace index` now", "see  .  now"),
        ("a\n\n```\nNot Prose\n```\n\nb", "a\n\n\n\n\n\nb"),
        ("    - an item, indented in its list", "    - an item, indented in its list"),
        ("[[notes/Rain gauge#Frost]] [[a|the other]]", "Rain gauge the other"),
        ('[the gauge](a.md "title") ![a picture](p.png)', "the gauge a picture"),
        ("[![alt](p.png)](q.md) [text][label]\n\n[label]: u.md", "alt text\n\n[label]: u.md"),
        ("at https://example.org/x?y=z, or", "at  .  or"),
        ("costs $x^2$ and <b>bold</b>", "costs  .  and  bold "),
        ("* one\n* **two** and _three_", "- one\n- two and three"),
        ("save_index stays", "save_index stays"),
    ],
)
def test_what_is_no_prose_is_left_out(text, prose):
    assert strip_markup(text) == prose
