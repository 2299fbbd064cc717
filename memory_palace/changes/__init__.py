"""Every way a note is changed: planned, shown, applied all or nothing, logged, undone."""
