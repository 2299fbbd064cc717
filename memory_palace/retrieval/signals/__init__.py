"""One signal per file, each a function from a search context to one score per row."""
