"""Changes of notes: planned, shown, applied all or nothing, logged, undone.

Commands use ``changing``; ``composing`` composes texts; only ``journal`` writes.
"""
