"""Links as eight programs document them lead to their notes, and what leads nowhere is broken."""

import pytest
from writing_notes import index_notes

from memory_palace.graph.resolve import NearLinks
from memory_palace.palace import Palace

ID = "0123456789abcdef0123456789abcdef"
VAULTS = {
    "Dendron": (
        ["vault/recipes.bread.md", "vault/tools.md", "other/tools.md"],
        {
            "[[Daily loaf|recipes.bread]]": 0,
            "[[Daily loaf|recipes.bread#crust]]": 0,
            "[[recipes.bread]]": 0,
            "[[dendron://vault/recipes.bread]]": 0,
            "[[Daily loaf|dendron://vault/recipes.bread#^a1]]": 0,
            "[[dendron://other/tools]]": 2,
            "[[Daily loaf|recipes.cake]]": None,
        },
    ),
    "Foam": (
        ["notes/rain-gauge.md"],
        {
            "[[Rain Gauge]]": 0,
            "[[rain_gauge|the gauge]]": 0,
            "[gauge]\n\n[gauge]: notes/rain-gauge.md 'Rain Gauge'\n": 0,
            "[[rain-barrel]]": None,
        },
    ),
    "Logseq": (
        ["pages/garden___tools.md", "pages/C%3A sharp.md", "journals/2024_01_31.md"],
        {
            "[[garden/tools]]": 0,
            "[[C: sharp]]": 1,
            "[[Jan 31st, 2024]]": 2,
            "[[2024-01-31]]": 2,
            "[[garden/seeds]]": None,
        },
    ),
    "Zettlr": (
        ["20240131101200 Frost.md", "20240131101300.md"],
        {"[[20240131101200]]": 0, "[[20240131101300]]": 1, "[[20240131101400]]": None},
    ),
    "Notion": (
        [f"Home {ID}.md", f"Home {ID}/Frost dates {ID[::-1]}.md"],
        {
            f"[Frost](Home%20{ID}/Frost%20dates%20{ID[::-1]}.md)": 1,
            "[[Frost dates]]": 1,
            "[x](Home%20gone.md)": None,
        },
    ),
    "Hugo": (
        ["content/posts/first-frost.md", "content/posts/mast/index.md", "content/tools/_index.md"],
        {
            '{{< ref "first-frost.md" >}}': 0,
            '[frost]({{< relref "/posts/first-frost" >}})': 0,
            "[frost](/posts/first-frost/)": 0,
            '{{% ref "posts/mast" %}}': 1,
            "[tools](/tools/)": 2,
            '{{< ref "last-frost.md" >}}': None,
        },
    ),
    "Jekyll": (
        ["_posts/2024-01-31-first-frost.md", "about.md"],
        {
            "{% post_url 2024-01-31-first-frost %}": 0,
            "[frost]({% link _posts/2024-01-31-first-frost.md %})": 0,
            "[frost](/2024/01/31/first-frost.html)": 0,
            "[about](about.html)": 1,
            "{% post_url 2024-01-31-last-frost %}": None,
            "[frost](../2024-01-31-first-frost.md)": None,
        },
    ),
    "Obsidian": (
        ["Field notes/First frost.md", "Mast.md"],
        {
            "[[First frost]]": 0,
            "[[first frost#Dates|dates]]": 0,
            "[frost](Field%20notes/First%20frost.md)": 0,
            "[frost](First%20frost)": 0,
            "[frost]([[First frost]])": 0,
            "[frost](obsidian://open?vault=mine&file=Field%20notes%2FFirst%20frost)": 0,
            "[[A tall pole]]": 1,
            "[[Last frost]]": None,
        },
    ),
}


@pytest.mark.parametrize("program", VAULTS)
def test_links_as_a_program_writes_them_lead_to_their_notes(tmp_path, program):
    paths, links = VAULTS[program]
    texts = dict.fromkeys(paths, "x\n") | {"Mast.md": "# A tall pole\n"}
    texts = {path: texts[path] for path in paths}
    texts |= {f"zz {n}.md": text for n, text in enumerate(links)}
    palace = index_notes(tmp_path, texts)
    graph = palace.graph()
    near = NearLinks.from_snapshot(palace.snapshot()).neighbors_of(texts)
    for n, (text, meant) in enumerate(links.items()):
        out = () if meant is None else (paths[meant],)
        assert graph.neighbors(f"zz {n}.md").out == near[f"zz {n}.md"].out == out, text
    broken = [edge.source for edge in graph.broken()]
    assert broken == [f"zz {n}.md" for n, meant in enumerate(links.values()) if meant is None]


def test_an_address_of_a_site_that_is_no_note_is_not_broken(tmp_path):
    (tmp_path / "a.md").write_text(
        "[x](/about/) [y](../tags) [z](feed.html) [w](#here) [v](obsidian://open?vault=home&file=House)"
    )
    palace = Palace.init(tmp_path, here=True)
    palace.index(embedder="hashing")
    assert palace.graph().broken() == []
