"""What the built-in agent puts into its workspace. Runs inside the sandbox, with the domain's interpreter."""
