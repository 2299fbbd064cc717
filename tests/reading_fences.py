"""What CommonMark, as another program reads it, sees of a text that agents are shown."""

from markdown_it import MarkdownIt

_EXPECTED = {"paragraph_open", "inline", "paragraph_close", "fence"}


def read_fences(text: str) -> list[str]:
    """Return what stands in each fence; anything beside paragraphs and fences fails."""
    tokens = MarkdownIt("commonmark").parse(text)
    assert {token.type for token in tokens} <= _EXPECTED, tokens
    return [token.content for token in tokens if token.type == "fence"]


def read_outside(text: str) -> list[str]:
    """Return the lines that stand in no fence."""
    tokens = MarkdownIt("commonmark").parse(text)
    inline = [token.content for token in tokens if token.type == "inline"]
    return [line for content in inline for line in content.split("\n")]
