"""Every way a note is changed: planned, shown, applied all or nothing, logged, undone.

``changing`` is where commands begin, ``composing`` says what is written, ``journal`` alone writes.
"""
