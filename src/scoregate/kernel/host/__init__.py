"""What the machine, git and GitHub offer: processes, users, files, commits."""
