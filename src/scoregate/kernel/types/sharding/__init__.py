"""How a plan is divided among shards."""
