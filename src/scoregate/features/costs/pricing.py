"""What the calls of a stored run cost at current prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scoregate.features.costs.named_models import list_default_models
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.runs.run import Run
from scoregate.models.budget import find_cost
from scoregate.models.providers import PROVIDERS, SCORER_DEFAULT
from scoregate.models.settings import ModelSettings

_LONGEST_NAME = 100
_NO_MODEL = "(without a name)"


@dataclass(slots=True)
class Pricing:
    """Prices of models now.

    Args:
        settings: the model settings of the project.
        providers: the provider of a model, by its name, as far as the base's run has it.
        renamed: the model that replaces the default one of the base's run, by that one's name.
    """

    settings: ModelSettings
    providers: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    _known: dict[str, tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def from_run(cls, settings: ModelSettings, base: Run) -> Pricing:
        """The prices for the calls of a stored run.

        Args:
            settings: the model settings of the project now.
            base: the stored run.
        """
        providers = {calls.model: calls.provider for calls in base.model_calls}
        for suite in base.suites:
            for info in suite.evaluators.values():
                name = info.fingerprint.model if info.fingerprint is not None else None
                if name and "/" in name:
                    provider, _, model = name.partition("/")
                    providers.setdefault(model, provider)
        old = list_default_models(base)
        # The code under test may name the default of scorers by itself.
        named = {calls.model for calls in base.model_calls if not calls.evaluator} & {SCORER_DEFAULT}
        new = settings.model
        renamed = {} if new is None else {_strip_provider(each): new for each in old if each not in {new, *named}}
        return cls(settings, providers, renamed)

    def is_renamed(self, usage: Usage) -> bool:
        """Whether another model answers these calls now."""
        return usage.model in self.renamed

    def find_cost(self, usage: Usage) -> float | None:
        """What the calls cost now, in US dollars; the recorded cost if no price is known; None without either."""
        model = usage.model or ""
        if ", " in model or not model:  # several models, whose shares are not known
            return usage.cost
        provider, name = self._resolve(self.renamed.get(model, model))
        calls = max(1, usage.calls - usage.stored)
        average = Usage(  # prices may depend on the length of a request, so they are those of an average one
            input_tokens=usage.input_tokens // calls,
            output_tokens=usage.output_tokens // calls,
            cached_tokens=usage.cached_tokens // calls,
        )
        tokens, parts = usage.input_tokens + usage.output_tokens, average.input_tokens + average.output_tokens
        cost = find_cost(average if parts else usage, provider=provider, model=name, prices=self.settings.prices)
        if cost is None:
            return usage.cost
        return cost * (tokens / parts if parts else 1.0)

    def _resolve(self, model: str) -> tuple[str, str]:
        """The provider and the name of a model."""
        if model not in self._known:
            provider, slash, name = model.partition("/")
            if slash and provider in PROVIDERS:
                self._known[model] = provider, name
            else:
                self._known[model] = self.providers.get(model) or self._guess_provider(model), model
        return self._known[model]

    def _guess_provider(self, model: str) -> str:
        """The provider that the project's own prices name for a model, as in `[prices."azure/gpt-4o"]`."""
        for glob in reversed(list(self.settings.prices)):
            provider, slash, name = glob.partition("/")
            if slash and name == model and "*" not in provider:
                return provider
        return ""


def _strip_provider(name: str) -> str:
    provider, slash, model = name.partition("/")
    return model if slash and provider in PROVIDERS else name


def name_model(usage: Usage) -> str:
    """The model of a usage, as messages name it."""
    return (usage.model or _NO_MODEL)[:_LONGEST_NAME]


def describe_unpriced(model: str) -> str:
    """Why the calls of a model are in no cost.

    Args:
        model: what `name_model` returned.
    """
    return "calls that name no model, so without a price" if model == _NO_MODEL else f"unknown price for model {model}"
