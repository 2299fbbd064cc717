"""Every way a note is changed: planned, shown, applied all or nothing, logged, undone.

``changing`` is where commands begin, and ``journal`` alone writes: a change is a set of
``operations``, made by ``composing`` and ``relinking``.
"""
