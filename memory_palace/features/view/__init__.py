"""Draw a palace as a floor plan in one HTML page: gather notes, lay them out, write the page."""
