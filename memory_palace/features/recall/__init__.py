"""What the notes have to say, unasked, to what was just said; nothing where it refers to none."""
