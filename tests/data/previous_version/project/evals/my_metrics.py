from scoregate.testing.evaluators import BaseHasAllSubstrings


class MentionsHours(BaseHasAllSubstrings):
    id = "hours"

    def __init__(self, words):
        self.words = words

    def test_case_mapper(self, test_case):
        return self.words

    def output_mapper(self, output):
        return output
