"""What outlives the project it came from, and what goes: gates, rules, and their evidence."""
