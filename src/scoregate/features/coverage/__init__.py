"""Coverage: which of the listed tools and prompts no case uses."""
