"""What runs inside the sandbox, before a script that is checked. Read as text."""
