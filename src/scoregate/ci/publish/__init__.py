"""Put reports where people and machines find them."""
