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
