import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
NAMED = re.compile(r"`((?:memory_palace|tests|references|scripts)/[\w./-]*?)`")
LINKED = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
PAGES = ["README.md", *(f"references/{p.name}" for p in sorted((ROOT / "references").glob("*.md")))]
"""Written pages, and ``cli.md``, which is generated."""


def headings(page: Path) -> set[str]:
    """Return the anchors of a page, as GitHub makes them."""
    prose = re.sub(r"^(`{3,}).*?^\1$", "", page.read_text("utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)", prose, re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES)
def test_every_file_and_heading_that_a_page_names_exists(page):
    text = (ROOT / page).read_text("utf-8")
    named = [n for n in NAMED.findall(text) if "NAME" not in n and "VERB" not in n]
    if page == "references/documents.md":
        named = []  # the first column names files of the documents
    gone = [n for n in named if not (ROOT / n).exists()]
    prose = re.sub(r"^(`{3,}).*?^\1$|`[^`\n]+`", "", text, flags=re.M | re.S)
    for name, anchor in LINKED.findall(prose):
        target = (ROOT / page).parent / name if name else ROOT / page
        if not target.exists() or (anchor and anchor not in headings(target)):
            gone.append(f"{name}#{anchor}")
    assert gone == []


def test_a_question_and_a_change_are_told_in_at_most_twelve_files():
    text = (ROOT / "references" / "architecture.md").read_text("utf-8")
    for heading in ("How a question runs", "How a change runs"):
        section = text.split(f"## {heading}")[1].split("\n## ")[0]
        assert 8 <= len(set(NAMED.findall(section))) <= 12, heading


def test_the_layers_of_the_page_are_those_of_the_import_contract():
    page = (ROOT / "references" / "architecture.md").read_text("utf-8")
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    contract = project.split("layers = [")[1].split("]")[0]
    table = page.split("| layer |")[1].split("\n\n")[0]
    for name in set(re.findall(r"memory_palace\.(\w+)", contract)):
        assert re.search(rf"`{name}(\.py|/)?`", table), name


def test_every_decision_has_a_date():
    text = (ROOT / "references" / "decisions.md").read_text("utf-8")
    headings = re.findall(r"^## .*", text, re.MULTILINE)
    assert headings
    assert [h for h in headings if not re.search(r"\(\d{4}-\d{2}-\d{2}\)$", h)] == []


def test_the_changelog_keeps_the_sections_of_keep_a_changelog():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    known = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)", text, re.MULTILINE)) <= known
    assert re.findall(r"^## (.*)", text, re.MULTILINE)[0] == "[Unreleased]"
    before_sections = text.split("## [Unreleased]")[1].split("\n### ")[0]
    assert "\n- " not in before_sections, "a line belongs into a section"
