"""What NLWeb needs beside a search, without a model and without a network."""

from typing import Any

from nlweb_core.scoring import ScoringContext, ScoringLLMProvider
from nlweb_core.site_config.base import SiteConfigLookup


class Scoring(ScoringLLMProvider):
    """Finds everything relevant, once it could be sent to a model."""

    def __init__(self, **_: Any) -> None:
        pass

    async def score(self, questions: list[str], context: ScoringContext, timeout: float = 30, **_: Any) -> float:
        (context.item_description or "").encode()
        return 90.0

    async def close(self) -> None:
        pass


class Sites(SiteConfigLookup):
    """Has every site handled by NLWeb itself, which would otherwise look at the
    site's home page first, and has it weigh the age of every object."""

    def __init__(self, **_: Any) -> None:
        self._config = {
            "ask_handler_import_path": "nlweb_core.handler",
            "ask_handler_class": "DefaultAskHandler",
            "freshness_config": {"recency_boost": {"enabled": True, "recency_weight": 1.0}},
        }

    async def get_config(self, site: str) -> dict[str, Any] | None:
        return self._config

    async def get_config_type(self, site: str, config_type: str) -> Any:
        return self._config.get(config_type)

    async def close(self) -> None:
        pass
