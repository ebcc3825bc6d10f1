"""Publish reports: files, comment, check, summary, annotations, data branch."""
