"""What the fake does at each address, one file for each part of the API."""
