"""Commands in comments on pull requests: `/scoregate run`, and what follows from them."""
