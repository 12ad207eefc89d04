"""Files of Harbor's task directories that are the same in all of them; they need Python alone."""
