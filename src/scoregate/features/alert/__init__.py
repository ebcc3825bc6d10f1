"""`alert`: what got worse on the base branch is measured again, and reported."""
