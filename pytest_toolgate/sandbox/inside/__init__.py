"""What runs inside the sandbox, on the domain's own Python: 3.8 or newer, standard library only."""
