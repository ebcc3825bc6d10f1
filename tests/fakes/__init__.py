"""Stand-ins for the outside world, true enough to be worth testing against."""
