"""What a harness tells a hook."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256


@dataclass(frozen=True, slots=True)
class HookMessage:
    """One message; a field that the harness does not send, or not as text, is empty."""

    session_id: str = ""
    transcript_path: str = ""
    cwd: str = ""
    source: str = ""
    """Why a session starts: ``startup``, ``resume``, ``compact`` or ``clear``."""
    prompt: str = ""
    plugin: str = ""
    """The version of the plug-in that calls, where one does and a session starts."""
    stop_hook_active: bool = False
    """Whether the agent goes on only because a hook would not let it stop."""

    @property
    def session(self) -> str:
        """A name for the session that may stand in a file's name and in a log."""
        named = self.session_id or self.transcript_path
        return sha256(named.encode("utf-8", "replace")).hexdigest()[:16] if named else ""
