"""What a person sees and types: terminal, headless runs, and the notebook."""
