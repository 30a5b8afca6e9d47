"""The loop: sessions, turns, steps, and the one way a tool call takes."""
