"""Neighbors, routes and orphans of a graph, in time linear in its links."""

import json
import sys
from collections import deque
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memory_palace.graph.router import LinkGraph, NoteLinks
from memory_palace.palace import Palace


def graph_of(links, **options):
    return LinkGraph(
        [NoteLinks(f"palace/{n}.md", n, targets=targets) for n, targets in links.items()], **options
    )


def names(paths):
    return [path.removeprefix("palace/").removesuffix(".md") for path in paths]


def test_links_out_keep_their_order_and_links_back_are_sorted():
    graph = graph_of({"a": ["c", "b", "c", "a"], "b": ["a"], "c": [], "d": ["a"]})
    assert names(graph.neighbors("palace/a.md").out) == ["c", "b"]
    assert names(graph.neighbors("palace/a.md").back) == ["b", "d"]


def test_of_equally_short_routes_the_first_in_path_order_is_taken():
    between = list("mlkjihgfedcb")
    graph = graph_of({"a": between, "z": between, **{name: [] for name in between}})
    assert names(graph.route("palace/a.md", "palace/z.md")) == ["a", "b", "z"]
    assert graph.route("palace/a.md", "palace/unknown.md") == ()
    assert graph.neighbors("palace/unknown.md") == ((), ())


def test_orphans_have_no_link_in_either_direction():
    graph = graph_of({"a": ["b"], "b": [], "c": ["c"], "d": ["nowhere"]})
    assert names(graph.orphans()) == ["c", "d"]


def test_links_without_a_note_are_told_apart():
    graph = graph_of(
        {"a": ["gone", "old", "twin", "x.png"], "b/twin": [], "c/twin": []},
        cold_paths=["palace/archive_basement/old.md"],
    )
    assert [edge.text for edge in graph.broken()] == ["gone"]
    assert [edge.text for edge in graph.archived()] == ["old"]
    [ambiguous] = graph.ambiguous()
    assert names(ambiguous.targets) == ["b/twin", "c/twin"]
    assert graph.neighbors("palace/a.md") == ((), ())


def test_the_export_is_json_in_path_order():
    exported = graph_of({"b": ["a", "gone"], "a": []}).export()
    assert json.loads(json.dumps(exported)) == exported
    assert [node["path"] for node in exported["nodes"]] == ["palace/a.md", "palace/b.md"]
    assert exported["edges"] == [
        {
            "source": "palace/b.md",
            "text": "a",
            "state": "resolved",
            "targets": ["palace/a.md"],
            "matches": 1,
        },
        {"source": "palace/b.md", "text": "gone", "state": "broken", "targets": [], "matches": 0},
    ]


def test_an_indexed_palace_has_the_links_of_its_notes(tmp_path):
    palace = Palace.init(tmp_path)
    for path, text in {
        "grand_hall/map.md": "See [[Kitchen#Oven|the oven]], [[old]] and [[me]].\n\n`[[Code]]`",
        "project_rooms/Kitchen.md": "---\naliases: [Bakery]\n---\n![[map]] [plan](plan.md)",
        "project_rooms/plan.md": "[[bakery]]",
        "archive_basement/old.md": "[[map]]",
        "chambers/me.md": "---\nprivate: true\n---\n[[map]]",
    }.items():
        (tmp_path / "palace" / path).write_text(text, "utf-8")
    palace.index(embedder="hashing")
    graph = LinkGraph.from_snapshot(palace.snapshot(include_cold=True))
    assert graph.neighbors("palace/grand_hall/map.md") == (
        ("palace/project_rooms/Kitchen.md",),
        ("palace/project_rooms/Kitchen.md",),
    )
    assert graph.neighbors("palace/project_rooms/plan.md") == (
        ("palace/project_rooms/Kitchen.md",),
        ("palace/project_rooms/Kitchen.md",),
    )
    assert [(edge.text, edge.state) for edge in graph.edges if edge.state != "resolved"] == [
        ("old", "archived"),
        ("me", "private"),
    ]
    assert len(graph.paths) == 3


def test_an_address_of_a_site_that_is_no_note_is_not_broken(tmp_path):
    (tmp_path / "a.md").write_text(
        "[x](/about/) [y](../tags) [z](feed.html) [w](#here) [v](obsidian://open?vault=home&file=House)"
    )
    palace = Palace.init(tmp_path, here=True)
    palace.index(embedder="hashing")
    assert palace.graph().broken() == []


LINKS = st.dictionaries(
    st.sampled_from("abcdefgh"), st.lists(st.sampled_from("abcdefghx"), max_size=4), min_size=1
)


@given(LINKS)
def test_every_link_out_is_a_link_back(links):
    graph = graph_of(links)
    out = {(a, b) for a in graph.paths for b in graph.neighbors(a).out}
    back = {(a, b) for b in graph.paths for a in graph.neighbors(b).back}
    assert (
        out
        == back
        == {
            (f"palace/{a}.md", f"palace/{b}.md")
            for a, bs in links.items()
            for b in bs
            if b in links and a != b
        }
    )


@given(LINKS, st.data())
def test_a_route_walks_over_links_and_none_is_shorter(links, data):
    graph = graph_of(links)
    start, goal = (data.draw(st.sampled_from(graph.paths)) for _ in range(2))
    near = {p: {*graph.neighbors(p).out, *graph.neighbors(p).back} for p in graph.paths}
    distances, queue = {start: 0}, deque([start])
    while queue:
        path = queue.popleft()
        for other in near[path] - distances.keys():
            distances[other] = distances[path] + 1
            queue.append(other)
    route = graph.route(start, goal)
    assert len(route) == (distances[goal] + 1 if goal in distances else 0)
    assert all(b in near[a] for a, b in pairwise(route))


def many(count):
    """Notes of five names in as many folders, each with links by path, name, alias and none."""
    return [
        NoteLinks(
            f"palace/project_rooms/{n}/{'index' if n % 2 else f'note {n}'}.md",
            f"Note {n}",
            [f"alias {n}", "shared"],
            [f"note {n + 2}", "index", "shared", f"alias {n // 2}", f"gone {n}", f"{n}/index"],
        )
        for n in range(count)
    ]


def count_lines(action):
    """Count executed lines of Python: the same in every run, unlike time."""
    lines = 0

    def trace(frame, event, argument):
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return lines


def test_work_grows_in_proportion_to_the_notes():
    small = count_lines(lambda: LinkGraph(many(300)).orphans())
    large = count_lines(lambda: LinkGraph(many(1200)).orphans())
    assert 3.5 * small < large < 4.2 * small


def test_a_graph_of_20_000_notes_that_share_names_is_built_at_once():
    graph = LinkGraph(many(20_000))
    assert len(graph.edges) == 99_999
    ambiguous = [edge for edge in graph.ambiguous() if edge.text == "index"]
    assert len(ambiguous) == 10_000  # in a folder with an index it is that one
    assert {(len(edge.targets), edge.matches) for edge in ambiguous} == {(8, 10_000)}
