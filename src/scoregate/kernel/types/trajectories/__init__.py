"""What an agent did for one case: the record, and the readers of messages and spans."""
