"""Check an answer against passages: quoted, supported, contradicted, or not found."""
