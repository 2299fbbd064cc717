"""What is extracted from passages at index time."""
