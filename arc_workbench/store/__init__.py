"""What stays on disk: session folders and their transcripts, with secrets taken out."""
