"""Reports of an analysis: a short one for the terminal, and one file of HTML that needs nothing beside itself."""
