"""Real JupyterLab and Notebook 7 in a real Chromium."""
