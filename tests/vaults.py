"""Somebody's folder of notes, and what is read of it."""

from hashlib import sha256

VAULT = {
    "Projects/alpha/frost.md": "# Frost\n\nThe rain gauge drifts when it freezes at night.\n",
    "Archive/2019/mast.md": "# Old mast\n\nThe mast was three metres.\n",
    "Tasks/README.md": "# Tasks\n\nWhat is to be done.\n",
    "bread.md": "# Bread\n\nFeed the starter on Mondays. See [[frost]].\n",
    "palace/moat.md": "# Moat\n\nThe moat is dry in August.\n",
    "notes.txt": "no note\n",
    ".obsidian/app.json": "{}\n",
    ".trash/gone.md": "# Gone\n\nThrown away.\n",
}


MAPPED = "rooms:\n  Archive: archive_basement\n  Tasks/: dispatch_corridor  # cards\n"


def digests(root):
    return {
        path.relative_to(root).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".palace" not in path.relative_to(root).parts
    }


def a_pose():
    """Return somewhere to stand."""
    from memory_palace.features.seek.nodes import Pose2D

    return Pose2D(1.0, 2.0, 0.0)
