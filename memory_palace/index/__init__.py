"""Everything derived from notes: segments, the commit record, building and checking them."""
