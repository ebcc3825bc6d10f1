"""The tools of the agent: a calendar of boats."""

BOATS = {"Aspen": 4, "Birch": 8, "Cedar": 8, "Dune": 20}


class Calendar:
    """The tools. `stale` boats look free, and booking them fails, as if another person was faster."""

    def __init__(self, taken: list[str], stale: list[str]) -> None:
        self.taken, self.stale = taken, stale

    def find_boats(self, day: str, people: int) -> list[str]:
        """The free boats with enough seats, smallest first."""
        return [boat for boat, seats in BOATS.items() if seats >= people and f"{boat} {day}" not in self.taken]

    def book_boat(self, boat: str, day: str) -> str:
        """Book a boat."""
        if boat in self.stale:
            raise ValueError(f"{boat} is taken")
        return f"{boat} is booked on {day}"

    def cancel_booking(self, boat: str, day: str) -> str:
        """Cancel the booking of a boat."""
        return f"{boat} is free on {day}"
