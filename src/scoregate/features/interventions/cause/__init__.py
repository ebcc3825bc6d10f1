"""`scoregate blame`: reverts parts of a change, and measures which of them caused a drop."""
