"""Multiple-choice screening: the prompt a model sees and how its reply is read."""
