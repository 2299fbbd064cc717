"""Questions and lists: an answer in lines, JSON, on a screen, or in another format."""
