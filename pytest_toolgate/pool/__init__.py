"""A pool as a whole: how alike its items are, what there is enough of, how its answers are spread. Pure."""
