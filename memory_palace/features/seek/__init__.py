"""Guided search: pursue a goal over steps, among notes or notes with places (loci)."""
