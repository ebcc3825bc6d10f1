"""What a project keeps between runs, in its repository: people's words, champions; by default in `.scoregate/`."""

from typing import Any

from scoregate.store.champions import CHAMPIONS, Champion, champions, crown
from scoregate.store.configs import CONFIGS, StoredConfig, stored_configs
from scoregate.store.datasets import DATASETS
from scoregate.store.directory import DirectoryStore
from scoregate.store.judges import JUDGE_HISTORY, JUDGES, StoredJudge, StoredVersion
from scoregate.store.kinds import Kind, Layout, Shelf
from scoregate.store.location import open_store
from scoregate.store.overrides import OVERRIDES, Override, add_override, overrides, recent_overrides
from scoregate.store.protocol import Store, Writer
from scoregate.store.throne import Throne
from scoregate.store.traces import TRACES, keep_trace, stored_trace
from scoregate.store.verdicts import VERDICTS, Verdict, Winner, add_verdict, verdict_on, verdicts

KINDS: tuple[Kind[Any], ...] = (OVERRIDES, VERDICTS, CHAMPIONS, DATASETS, JUDGES, JUDGE_HISTORY, CONFIGS, TRACES)

__all__ = [
    "CHAMPIONS",
    "CONFIGS",
    "DATASETS",
    "JUDGES",
    "JUDGE_HISTORY",
    "KINDS",
    "OVERRIDES",
    "TRACES",
    "VERDICTS",
    "Champion",
    "DirectoryStore",
    "Kind",
    "Layout",
    "Override",
    "Shelf",
    "Store",
    "StoredConfig",
    "StoredJudge",
    "StoredVersion",
    "Throne",
    "Verdict",
    "Winner",
    "Writer",
    "add_override",
    "add_verdict",
    "champions",
    "crown",
    "keep_trace",
    "open_store",
    "overrides",
    "recent_overrides",
    "stored_configs",
    "stored_trace",
    "verdict_on",
    "verdicts",
]
