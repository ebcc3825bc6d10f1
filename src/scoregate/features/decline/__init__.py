"""`max_decline`: small drops that add up, measured against an earlier run of the same branch."""
