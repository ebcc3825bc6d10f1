"""Reports on the pull requests of forks, by a job that has the rights which the fork's job does not have."""
