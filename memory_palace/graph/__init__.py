"""Links between notes: resolution, neighbours, routes, orphans, broken links."""
