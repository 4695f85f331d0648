"""What a call costs: a dated table of prices and the one formula that applies them.

Amounts are whole nano-dollars (10⁻⁹ US dollars): a price per million tokens of up to three decimals
is a whole number of nano-dollars a token, so sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field, ValidationError

from rge.errors import RgeError, UsageError
from rge.specs import Section
from rge.store import first_problem

NANO = 1_000_000_000
Price = Annotated[Decimal, Field(ge=0, decimal_places=3)]
Provider = Literal["anthropic", "openai", "google"]


@dataclass(frozen=True)
class Tokens:
    """Billed tokens of one call; no token is counted in two of these.

    Attributes
    ----------
    input
        Prompt tokens that neither came from a cache nor were written to one.
    cache_read, cache_write_5m, cache_write_1h
        Prompt tokens read from a cache, and written to one by time to live.
    output
        Everything billed as output, reasoning included.
    """

    input: int
    output: int
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0

    @property
    def prompt(self) -> int:
        """The whole prompt, however it was billed."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h


class Rates(Section):
    """US dollars per million tokens; a kind of token without a price cannot be billed."""

    input: Price
    output: Price
    cache_read: Price | None = None
    cache_write_5m: Price | None = None
    cache_write_1h: Price | None = None

    def nano(self, kind: str) -> int:
        """Nano-dollars for one token of a kind.

        Raises
        ------
        RgeError
            When the table has no price for it.
        """
        price: Decimal | None = getattr(self, kind)
        if price is None:
            raise RgeError("prices", f"no price for {kind} tokens", do="add it to the table")
        return int(price * 1000)

    def worst_input(self) -> int:
        """The highest price of a prompt token, in nano-dollars, where a cache is asked for.

        Caches are asked for by the five minutes.
        """
        return int(max(self.input, self.cache_write_5m or self.input) * 1000)


class Tier(Section):
    """Prices of synchronous calls and of batch rows."""

    sync: Rates
    batch: Rates


class LongContext(Tier):
    """Prices of the whole request where its prompt is longer than `above` tokens."""

    above: Annotated[int, Field(ge=1)]


class ModelPrice(Section):
    """One model's row, with where and when its prices were read."""

    model: str
    provider: Provider
    snapshots: tuple[str, ...] = ()
    rates: Tier
    long_context: LongContext | None = None
    source: Annotated[str, Field(min_length=1)]
    checked_on: date

    def names(self, model: str) -> bool:
        """Whether the row is that of a model or of one of its snapshots."""
        return model == self.model or model in self.snapshots

    def cost(self, tokens: Tokens, *, batch: bool) -> int:
        """What a call with these tokens costs, in nano-dollars."""
        rates = self._rates(tokens.prompt, batch)
        kinds = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
        return sum(n * rates.nano(kind) for kind in kinds if (n := getattr(tokens, kind)))

    def worst_case(self, prompt_tokens: int, max_tokens: int, *, batch: bool, cached: bool) -> int:
        """The most a call can cost, in nano-dollars.

        Parameters
        ----------
        prompt_tokens
            An upper bound of the prompt's length.
        max_tokens
            The cap on output, reasoning included.
        batch
            Whether the call is a row of a batch.
        cached
            Whether the request asks for tokens to be written to a cache.
        """
        rates = self._rates(prompt_tokens, batch)
        per_token = rates.worst_input() if cached else rates.nano("input")
        return prompt_tokens * per_token + max_tokens * rates.nano("output")

    def _rates(self, prompt_tokens: int, batch: bool) -> Rates:
        tier: Tier = self.rates
        if self.long_context is not None and prompt_tokens > self.long_context.above:
            tier = self.long_context
        return tier.batch if batch else tier.sync


class PriceTable(Section):
    """All prices; `of` fails for a model that is not listed, so nothing unpriced is ever called."""

    models: tuple[ModelPrice, ...]

    def of(self, model: str) -> ModelPrice:
        """The row of a model or of one of its snapshots.

        Raises
        ------
        UsageError
            When no row names it.
        """
        for row in self.models:
            if row.names(model):
                return row
        raise UsageError(
            f"model {model}",
            "has no price",
            allowed=", ".join(row.model for row in self.models),
            do="add a row with source and date to configs/prices.yaml",
        )


def load_prices(path: Path) -> PriceTable:
    """The checked price table.

    Raises
    ------
    UsageError
        When the file is missing, malformed, or names a model twice.
    """
    try:
        # Read as text so that 0.15 stays 0.15: a binary float is no price.
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
        table = PriceTable.model_validate(data)
    except FileNotFoundError:
        raise UsageError(path, "no such file") from None
    except yaml.YAMLError as error:
        raise UsageError(path, f"not YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        raise UsageError(path, first_problem(error), do="fix the value") from None
    names = [name for row in table.models for name in (row.model, *row.snapshots)]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(path, f"{name} stands in two rows", do="remove one")
    return table


def dollars(nano: int) -> float:
    """Nano-dollars as US dollars, for records and tables."""
    return nano / NANO
