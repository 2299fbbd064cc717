"""One note: show it, make it, and take back the last change of any."""
