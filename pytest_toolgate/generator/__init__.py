"""The generator: rounds in which an agent proposes a candidate and the gates judge it."""
