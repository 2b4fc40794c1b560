"""Settings of the store, the models' machinery and the work in the background."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BeforeValidator, model_validator

from retold.config.base import Block, Text, TextList, as_tuple, key
from retold.config.model_names import ProviderName
from retold.text.scripts import LetterScript

PACKAGED_EMBEDDER = "all-MiniLM-L6-v2/onnx-int8"
"""The model name that selects the embedder installed from packages; any other is a hub model."""


def require_http_url(value: str) -> SplitResult:
    """Return the parts of an address that a client can reach. Raises ValueError, without it."""
    try:
        parts = urlsplit(value)
        is_whole = parts.port != 0 and not any(char.isspace() for char in value)
    except ValueError:  # brackets that do not close, or a port beyond the last
        is_whole = False
    if not is_whole or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an http or https URL with a host")
    return parts


def _http_url(value: str) -> str:
    parts = require_http_url(value)
    if parts.username or parts.password:
        raise ValueError("must not hold credentials; name an environment variable in api_key_env")
    return value


def _env_name(value: str) -> str:
    if not (value.isascii() and value.isidentifier()):
        raise ValueError("must be the name of an environment variable, never the key itself")
    return value


Url = Annotated[Text, AfterValidator(_http_url)]
EnvName = Annotated[str, AfterValidator(_env_name)]
ScriptName = Literal["all", LetterScript]
Scripts = Annotated[tuple[ScriptName, ...], BeforeValidator(as_tuple)]


class StoreConfig(Block):
    """The one file that holds every memory."""

    path: Text = key("./memory.sqlite", "File of the store; relative to the working directory.")
    busy_timeout_seconds: float = key(
        30, "Wait for another connection's write lock.", "seconds", gt=0
    )


class EmbeddingConfig(Block):
    """The model that turns text into vectors."""

    model: Text = key(
        "BAAI/bge-m3",
        f"{PACKAGED_EMBEDDER} is the packaged model; any other name is loaded by "
        "sentence-transformers.",
    )
    version: Text = key(
        "1",
        "Tag of stored vectors, for another preprocessing; a store with vectors of another tag is "
        "refused.",
    )
    dims: int = key(1024, "Width of a vector; must equal the model's output.", "dimensions", ge=1)
    device: Literal["auto", "cpu", "cuda", "mps"] = key(
        "auto", "Where a model of torch runs; auto takes mps, then cuda, then cpu."
    )
    max_chars: int = key(
        2000, "Longest text embedded; stored content is never cut.", "characters", ge=1
    )
    subject_name: bool | None = key(
        None,
        "Embed a record behind the name of whom it is about; null is false in design and true in "
        "measured. Vectors stored before stay valid.",
    )
    query_cache_entries: int = key(
        4096, "Query vectors kept, least recently used first out; 0 keeps none.", "vectors", ge=0
    )
    incremental_reload_max: int = key(
        512, "Largest change applied to the index in place.", "records", ge=0
    )
    reembed_batch_size: int = key(
        64, "Records per batch of a re-embedding.", "records", ge=1, waits=True
    )
    threads: int | None = key(
        None,
        "Threads of the models; null leaves the library's own choice alone. "
        "torch has one number for the whole process.",
        "threads",
        ge=1,
    )
    allow_download: bool = key(
        False, "Let a missing model, the judge's too, be downloaded when the store is opened."
    )

    scripts: Scripts | None = key(
        None,
        "Scripts that the model reads, or all; null is what the embedder says, and latin where it "
        "says nothing.",
    )

    @property
    def is_packaged(self) -> bool:
        """Return whether the model comes from an installed package, without any hub."""
        return self.model == PACKAGED_EMBEDDER


class SessionsConfig(Block):
    """How long transcripts live."""

    retain_days: int = key(
        90,
        "Transcripts are blanked this long after an extracted session ended.",
        "days",
        ge=0,
    )


class SearchLogConfig(Block):
    """The one row that each search writes."""

    max_wait_ms: int = key(
        250, "Longest wait for the write lock before the row follows later.", "ms", ge=0
    )


class LogsConfig(Block):
    """How much is kept of searches and decisions, and how long."""

    retain_days: int = key(
        90,
        "Search log, turn decisions and event payloads are kept this long.",
        "days",
        ge=0,
    )
    detail: Literal["full", "summary"] = key(
        "full", "full keeps every candidate for replay; summary only what was returned."
    )


class ReviewsConfig(Block):
    """How many questions may wait for a person, and for how long, before a command fails."""

    max_open: int = key(50, "More open reviews of a kind breach the backlog.", "reviews", ge=0)
    max_age_days: int = key(
        7, "An open review that waits for longer breaches the backlog.", "days", ge=0
    )


class AuditConfig(Block):
    """What is recorded beyond changes."""

    denials: bool = key(True, "Record one content-free event for a refused write verb.")


class ProviderConfig(Block):
    """Where one kind of hosted model is reached."""

    base_url: Url | None = key(None, "Endpoint; null is the provider's own.")
    api_key_env: EnvName | None = key(None, "Environment variable that holds the key, never a key.")


class AnthropicConfig(ProviderConfig):
    """Anthropic's API or a proxy of it."""

    api_key_env: EnvName | None = key(
        "ANTHROPIC_API_KEY", "Environment variable that holds the key, never a key."
    )


class OpenAIConfig(ProviderConfig):
    """OpenAI's API or a proxy of it."""

    api_key_env: EnvName | None = key(
        "OPENAI_API_KEY", "Environment variable that holds the key, never a key."
    )


class OpenRouterConfig(ProviderConfig):
    """OpenRouter's API."""

    base_url: Url | None = key("https://openrouter.ai/api/v1", "Endpoint.")
    api_key_env: EnvName | None = key(
        "OPENROUTER_API_KEY", "Environment variable that holds the key, never a key."
    )


class CustomConfig(ProviderConfig):
    """Any endpoint that speaks OpenAI's protocol, such as Ollama, vLLM or LM Studio."""

    base_url: Url | None = key(None, "Endpoint; required to use this provider.")


class HostedConfig(Block):
    """Whether, for whom and where hosted models are called."""

    enabled: bool = key(True, "false stops every hosted call before a byte leaves.")
    allow_scopes: TextList = key(
        ("*",), "Scopes (globs over kind:id) whose text may go to a hosted model."
    )
    default_provider: ProviderName = key(
        "anthropic", "Provider of a model string that names none and is not recognised."
    )
    max_retries: int = key(
        2, "Attempts after a failed one, as far as the time of the call goes.", "attempts", ge=0
    )
    tokens_per_run: int | None = key(
        None, "Most tokens of one extraction run; null is no limit.", "tokens", ge=1
    )
    tokens_per_day: int | None = key(
        None, "Most tokens of one day in UTC; null is no limit.", "tokens", ge=1
    )
    anthropic: AnthropicConfig = AnthropicConfig()
    openai: OpenAIConfig = OpenAIConfig()
    openrouter: OpenRouterConfig = OpenRouterConfig()
    custom: CustomConfig = CustomConfig()

    def allows(self, scope: str) -> bool:
        """Return whether text of a scope, written ``kind:id``, may go to a hosted model."""
        return any(fnmatchcase(scope, glob) for glob in self.allow_scopes)

    @model_validator(mode="after")
    def _custom_needs_an_endpoint(self) -> HostedConfig:
        if self.default_provider == "custom" and self.custom.base_url is None:
            raise ValueError("default_provider custom needs hosted.custom.base_url")
        return self


class QueueConfig(Block):
    """How background work is announced; the store itself holds the to-do list."""

    backend: Literal["thread", "huey", "none"] = key(
        "thread",
        "Run jobs on a thread of this process, through huey workers, or not at all.",
    )
    directory: Text | None = key(None, "Folder of the queue files; null is beside the store.")
    enqueue_timeout_ms: int = key(500, "Longest delay an announcement may cause.", "ms", ge=1)
    max_pending: int = key(1000, "The sweep announces nothing above this.", "jobs", ge=1)
    max_attempts: int = key(5, "Attempts of one stage before a session is set aside.", "", ge=1)
    sweep_seconds: int = key(60, "Pause between two sweeps over the to-do list.", "seconds", ge=1)
