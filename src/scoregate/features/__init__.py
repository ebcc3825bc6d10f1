"""Features: each in one folder, hooked into the kernel by the table."""
