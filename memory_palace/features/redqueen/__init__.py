"""Test whether notes are found by people's questions, and propose names that help."""
