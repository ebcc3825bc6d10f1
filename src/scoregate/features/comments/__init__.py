"""Commands in comments on pull requests: who asks, what starts, the answer, the commit's status."""
