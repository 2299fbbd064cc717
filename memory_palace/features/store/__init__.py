"""The index of many palaces in PostgreSQL with pgvector, with rights for each of them."""
