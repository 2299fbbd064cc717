"""Every way a note is changed: planned, shown, applied all or nothing, logged, undone.

``changing`` is the door, and ``journal`` alone writes: a change is a set of ``operations``, made by
``composing`` and ``relinking``, done by ``file_steps`` and kept as a ``logged_change``.
"""
