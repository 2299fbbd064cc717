"""Text in, unit vectors out: one Protocol, a registry, and an embedder per file."""
