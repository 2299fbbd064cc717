"""What the live page is given of a palace, and what it is never given."""

import json
import threading
from pathlib import Path

import pytest
from serving_palaces import wait_until
from vaults import digests
from writing_notes import index_notes

from memory_palace import Palace
from memory_palace.features.view import live
from memory_palace.features.view.live import LivePage
from memory_palace.server.loopback import PageVisit, Unwanted

NOTES = {
    "Frost": "# Frost\n\nThe rain gauge drifts in frost; Wren wraps the funnel in felt.\n",
    "Boat": "# Boat\n\nThe stern light covers 135 degrees. <private>Sable snores.</private>\n",
    "Diary": "---\nprivate: true\n---\n# Diary\n\nThe rain gauge is hidden in the well.\n",
    "Keys": "# Keys\n\nThe key is AKIA" + "4HKPRTWQ2NBVZXM5.\n\nThe end.\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    notes = {f"{name}.md": text for name, text in NOTES.items()}
    return index_notes(tmp_path / "notes", notes).paths.root.resolve()


def open_pages(root: Path, warn=pytest.fail) -> LivePage:
    page = LivePage(str(root), warn=warn)
    page.refresh()
    return page


def visit(pages: LivePage, endpoint: str, *, known: str = "", gone: bool = False, **values: str):
    found = PageVisit(endpoint, values, known)
    return pages.answer(found, lambda: gone)


def ask(pages: LivePage, endpoint: str, **values: str):
    return json.loads(visit(pages, endpoint, **values).body)


def read(pages: LivePage, name: str):
    latest = pages.latest
    return ask(pages, "note", of=latest.name, i=str(latest.paths.index(f"{name}.md")))["text"]


def test_the_page_forbids_to_be_framed_and_asks_its_own_server_alone(root):
    reply = visit(open_pages(root), "")
    assert reply.kind == "text/html; charset=utf-8"
    assert "frame-ancestors 'none'" in reply.policy
    assert "connect-src 'self'" in reply.policy
    assert b"connect-src &#x27;self&#x27;" in reply.body or b"connect-src 'self'" in reply.body


def test_a_note_is_read_when_it_is_asked_for(root):
    pages = open_pages(root)
    (root / "Frost.md").write_text("# Frost\n\nFelt was no use.\n", "utf-8")
    assert read(pages, "Frost") == "# Frost\n\nFelt was no use."


def test_what_is_private_or_secret_is_given_nowhere(root):
    pages = open_pages(root)
    assert pages.latest.paths == ("Boat.md", "Frost.md", "Keys.md")
    assert read(pages, "Keys").endswith("The end.")
    questions = [ask(pages, "search", q=asked) for asked in ("rain gauge", "Sable snores", "aws")]
    told = json.dumps([read(pages, name) for name in ("Boat", "Keys")] + questions)
    for secret in ("Diary", "well", "snores", "AKIA"):
        assert secret not in told


def test_a_note_that_became_private_is_not_given_before_it_is_indexed(root):
    pages = open_pages(root)
    (root / "Frost.md").write_text("---\nprivate: true\n---\n# Frost\n\nMine.\n", "utf-8")
    assert read(pages, "Frost") is None


def test_a_note_that_became_a_link_out_of_the_palace_is_not_given(root, tmp_path):
    pages = open_pages(root)
    (tmp_path / "outside.md").write_text("outside", "utf-8")
    (root / "Frost.md").unlink()
    (root / "Frost.md").symlink_to(tmp_path / "outside.md")
    assert read(pages, "Frost") is None


@pytest.mark.parametrize("place", ["3", "-1", "", "x", "0x0", "٣", "1e0", "../Frost.md", "9" * 30])
def test_only_notes_of_the_plan_can_be_asked_for(root, place):
    pages = open_pages(root)
    with pytest.raises(Unwanted) as refused:
        visit(pages, "note", of=pages.latest.name, i=place)
    assert refused.value.status == 404


def test_a_plan_is_drawn_and_sent_once_for_each_index(root):
    pages = open_pages(root)
    before, plan = pages.latest, visit(pages, "plan")
    assert visit(pages, "plan", known=plan.tag).status == 304
    pages.refresh()
    assert pages.latest is before
    (root / "Almanac.md").write_text("# Almanac\n\nMay was dry.\n", "utf-8")
    Palace(root).index()
    pages.refresh()
    assert visit(pages, "plan", known=plan.tag).tag != plan.tag
    assert "May" in read(pages, "Almanac")
    for old in (before.name, "nothing"):
        assert ask(pages, "note", of=old, i="0") == {"text": None}


def test_what_fails_is_said_and_the_last_plan_stays(root, monkeypatch):
    monkeypatch.setattr(live, "LOOK_SECONDS", 0.01)
    said, stop = [], threading.Event()
    pages = open_pages(root, said.append)
    first, commit = pages.latest, root / ".palace/.index/INDEX.json"
    whole = commit.read_bytes()
    commit.write_bytes(b"{}")
    thread = threading.Thread(target=pages.follow, args=(stop,))
    thread.start()
    wait_until(lambda: bool(said), "the damage is not said")
    stop.set()
    thread.join()
    assert pages.latest is first
    commit.write_bytes(whole)
    pages.refresh()


def test_search_finds_what_a_question_would(root):
    found = ask(open_pages(root), "search", q="what drifts in frost")
    expected = Palace(root).query("what drifts in frost", neighbors=0)
    assert [hit["path"] for hit in found["hits"]] == [hit.path for hit in expected]
    assert "funnel" in found["hits"][0]["text"]
    assert found["hits"][0]["confidence"] > 0


@pytest.mark.parametrize("text", ["", " ", "-", " - "])
def test_an_empty_question_reads_no_input(root, text):
    pages = open_pages(root)
    assert ask(pages, "search", q=text)["hits"] == []


@pytest.mark.parametrize("text", ["--help", "-C /", "--full", "#nothing", '"quoted', "\0", "字"])
def test_a_question_is_never_an_option(root, text):
    assert "hits" in ask(open_pages(root), "search", q=text)


def test_a_question_that_nobody_waits_for_is_not_answered(root):
    with pytest.raises(Unwanted) as refused:
        visit(open_pages(root), "search", q="frost", gone=True)
    assert refused.value.status == 503


def test_an_index_that_is_gone_is_told(root):
    pages = open_pages(root)
    (root / ".palace/.index/INDEX.json").unlink()
    assert "palace index" in ask(pages, "search", q="frost")["problem"]


def test_looking_changes_no_note_and_logs_no_use(root):
    before = digests(root)
    pages = open_pages(root)
    own = sorted(path for path in (root / ".palace").rglob("*") if path.is_file())
    read(pages, "Frost")
    ask(pages, "search", q="frost")
    assert digests(root) == before
    assert sorted(path for path in (root / ".palace").rglob("*") if path.is_file()) == own
