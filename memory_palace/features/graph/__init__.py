"""The verbs of links: neighbours, routes, orphans, broken links, and the map of folders."""
