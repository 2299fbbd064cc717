"""Promotion and archiving of notes: gates, rules, and their evidence."""
