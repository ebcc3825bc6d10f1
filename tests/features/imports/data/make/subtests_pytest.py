"""Subtests: pytest counts each that passes as a test, and writes an element for those that fail only."""

import unittest

CAPITALS = {"France": "Paris", "Italy": "Rome", "Malta": "Valletta"}


def answer(country):
    return {"France": "Paris", "Italy": "Milan"}.get(country, "Valletta")


def test_all_pass(subtests):
    for country in ("France", "Malta"):
        with subtests.test(country):
            assert answer(country) == CAPITALS[country]


def test_one_fails(subtests):
    for country, capital in CAPITALS.items():
        with subtests.test(country):
            assert answer(country) == capital


class CapitalsTest(unittest.TestCase):
    def test_all_pass(self):
        for country in ("France", "Malta"):
            with self.subTest(country=country):
                assert answer(country) == CAPITALS[country]

    def test_two_fail(self):
        for country in CAPITALS:
            with self.subTest(country=country):
                assert answer(country) == "Paris"
