"""What the machine and git offer: processes, users, files, commits."""
