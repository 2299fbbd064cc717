from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
NAMED = re.compile(r"`((?:memory_palace|tests|references|scripts)/[\w./-]*?)`")
LINKED = re.compile(r"\]\((?!https?:)([^)#]+)")
PAGES = [
    "README.md",
    *(
        f"references/{n}.md"
        for n in ("answers", "architecture", "contributing", "layouts", "python", "store")
    ),
]


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_exists(page):
    text = (ROOT / page).read_text("utf-8")
    named = [name for name in NAMED.findall(text) if "NAME" not in name]
    gone = [n for n in named if not (ROOT / n).exists()]
    gone += [n for n in LINKED.findall(text) if not (ROOT / page).parent.joinpath(n).exists()]
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
    for name in set(re.findall(r"memory_palace\.(\w+)", contract)) - {"libraries", "document_000"}:
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
