"""The ground: nouns and pure verbs that both wings stand on."""
