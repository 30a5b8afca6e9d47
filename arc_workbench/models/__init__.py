"""The model side: one protocol, and a provider for each way of getting replies."""

from arc_workbench.errors import SettingsError
from arc_workbench.models.provider import Provider, ProviderFactory
from arc_workbench.models.scripted import scripted

PROVIDERS: dict[str, ProviderFactory] = {"script": scripted}
"""Kind of model, as it stands before the colon of a spec, and what makes it."""

PLANNED = ("anthropic", "compatible", "replay", "human")
_FORMS = ("script:tour", "script:FILE.yaml")


def make_provider(spec: str, *, pace: float) -> Provider:
    """The provider that `spec` names (`script:tour`), speaking at `pace` tokens per second.

    Raises `SettingsError` where it is no model or one that this version does not have, and what
    the provider itself raises about the rest of the spec (`ScriptError`).
    """
    kind, colon, rest = spec.partition(":")
    if colon and kind in PROVIDERS:
        return PROVIDERS[kind](rest, pace)
    if (colon and kind in PLANNED) or spec.startswith("claude-"):
        raise SettingsError(
            f"{spec} is not available in this version; nothing ran. Now: {' or '.join(_FORMS)}",
            key="model",
            allowed=_FORMS,
        )
    raise SettingsError(
        f"{spec} is no model; nothing ran. Forms: %agent help model", key="model", allowed=_FORMS
    )
