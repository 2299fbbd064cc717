"""The address book: which terms matter in a palace, and where each of them leads."""
