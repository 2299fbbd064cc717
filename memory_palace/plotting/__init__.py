"""One style for every picture: its themes, the marks it is made of, and how it is written."""
