"""Every error this library raises on purpose.

::

    RetoldError                     .code  .message  .details
      ConfigError                   a setting is wrong; names its YAML path
      RetoldSetupError              a model, package or key is missing; names the command that helps
      NotYetAvailable               a documented verb that a later release brings
      StoreError                    the file, not the request, is the trouble
        StoreBusy                   the write lock was not free within store.busy_timeout_seconds
        StoreUnavailable            missing, unreadable, read-only, full, closed or forked
        ForeignFile                 a database that is not a Retold store
        StoreCorrupt                SQLite says the file is damaged
        MigrationRequired           an older schema, or unresolved migration issues
        SchemaTooNew                a newer schema than this release knows
        EmbeddingProfileMismatch    the stored vectors belong to another model
        StaleComparison             internal: compared records changed before the write
        ClaimLost                   internal: the work went to another worker meanwhile
        DraftLost                   internal: what an extraction staged is gone or unreadable
      RequestError                  the caller can act on it; shown to an agent unchanged
        InvalidInput
          InvalidSourceKind
          InvalidSubject
          InvalidWriteTarget
          UnsupportedEvidenceError  the quote does not support the claim; nothing was stored
          SessionFinished
        NotFound                    absent, unreadable and unwritable are one answer
        ScopeNotWritable
        EntityAmbiguous             details: candidate ids, kinds, names, scopes
        WriteContended              racing writers kept winning; nothing was stored
      ModelError                    a model-backed dependency failed
        EmbeddingError
        JudgeError
        RewriteError
        RerankError
        HostedError                 .kind: what a worker does about it
          HostedNotAllowed          switched off, or not for this scope; nothing left the machine
          BudgetExhausted           the tokens of the run or the day are used up
          ProviderOutage            unreachable, overloaded or broken off; later is better
            ModelTimeout            the deadline passed
          ProviderNotConfigured     key, model or address is refused; somebody has to look
          InvalidCompletion         refused, cut short or no JSON object
          LocalLimit                this machine is short of files, memory or space
          ProviderError             the provider refused the request itself

A message never holds memory content: ids, names of fields and numbers only.
"""

from __future__ import annotations

import inspect
from typing import ClassVar, Literal

FailureKind = Literal["outage", "config", "content", "local", "bug"]
"""What a failure of work in the background calls for.

An ``outage`` passes: wait, and count no attempt. ``config`` needs a person: stop and say so.
``content`` and ``bug`` count as attempts. ``local`` is this machine's or this installation's own
limit: leave the work due and count no attempt.
"""


class RetoldError(Exception):
    """Something Retold was asked to do did not happen."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str | None = None, **details: object) -> None:
        """Take a message that says what to do; without one the class docstring speaks."""
        self.message = message or inspect.cleandoc(type(self).__doc__ or "").splitlines()[0]
        self.details: dict[str, object] = details
        super().__init__(self.message)


class ConfigError(RetoldError):
    """The configuration is not valid."""

    code = "config_error"


class RetoldSetupError(RetoldError):
    """A model, package or key is missing."""

    code = "setup_required"


class NotYetAvailable(RetoldError):
    """This release does not have that yet."""

    code = "not_yet_available"

    @classmethod
    def named(cls, what: str) -> NotYetAvailable:
        """Return the refusal of a verb that is documented already."""
        return cls(f"{what} comes with a later release of retold")


class StoreError(RetoldError):
    """The store file could not be used."""

    code = "store_error"


class StoreBusy(StoreError):
    """Another process held the write lock for too long; try again."""

    code = "store_busy"


class StoreUnavailable(StoreError):
    """The store cannot be reached."""

    code = "store_unavailable"


class ForeignFile(StoreError):
    """The file is not a Retold store."""

    code = "foreign_file"


class StoreCorrupt(StoreError):
    """The store file is damaged; restore a snapshot."""

    code = "store_corrupt"


class MigrationRequired(StoreError):
    """The store has an older schema; run `retold migrate`."""

    code = "migration_required"


class SchemaTooNew(StoreError):
    """The store was written by a newer release; upgrade retold."""

    code = "schema_too_new"


class EmbeddingProfileMismatch(StoreError):
    """The vectors in the store come from another embedding model."""

    code = "embedding_mismatch"


class StaleComparison(StoreError):
    """Compared records changed before the write could be applied."""

    code = "stale_comparison"


class ClaimLost(StoreError):
    """The claim on a session went to another worker; nothing of this one is stored."""

    code = "claim_lost"


class DraftLost(StoreError):
    """What the extraction staged for its review cannot be read; extract the session again."""

    code = "draft_lost"


class RequestError(RetoldError):
    """The request cannot be carried out as it stands."""

    code = "request_error"


class InvalidInput(RequestError, ValueError):
    """The input is not valid."""

    code = "invalid_input"


class InvalidSourceKind(InvalidInput):
    """The caller may not write this source kind."""

    code = "invalid_source_kind"


class InvalidSubject(InvalidInput):
    """The write has no usable subject."""

    code = "invalid_subject"


class InvalidWriteTarget(InvalidInput):
    """This session does not offer that write target."""

    code = "invalid_write_target"


class UnsupportedEvidenceError(InvalidInput):
    """The quote does not support the claim; nothing was stored."""

    code = "unsupported_evidence"


class SessionFinished(InvalidInput):
    """The session is finished; open a new one."""

    code = "session_finished"


class NotFound(RequestError, LookupError):
    """No such id for this caller."""

    code = "not_found"


class ScopeNotWritable(RequestError, PermissionError):
    """The caller may not write there."""

    code = "scope_not_writable"


class EntityAmbiguous(RequestError):
    """Several entities carry that name; pass one entity id."""

    code = "entity_ambiguous"


class WriteContended(RequestError):
    """Other writers kept changing the compared records; nothing was stored, try again."""

    code = "write_contended"


class ModelError(RetoldError):
    """A model failed."""

    code = "model_error"


class EmbeddingError(ModelError):
    """The embedder failed or returned unusable vectors."""

    code = "embedding_error"


class JudgeError(ModelError):
    """The judge failed."""

    code = "judge_error"


class RewriteError(ModelError):
    """The query rewriter failed."""

    code = "rewrite_error"


class RerankError(ModelError):
    """The reranker failed."""

    code = "rerank_error"


class HostedError(ModelError):
    """A hosted model gave no answer."""

    code = "hosted_error"
    kind: ClassVar[FailureKind] = "bug"


class HostedNotAllowed(HostedError):
    """This text may not go to a hosted model."""

    code = "hosted_not_allowed"
    kind = "local"


class BudgetExhausted(HostedError):
    """The token budget is used up."""

    code = "budget_exhausted"
    kind = "local"


class ProviderOutage(HostedError):
    """The provider could not be reached or did not answer properly; try again later."""

    code = "provider_outage"
    kind = "outage"


class ModelTimeout(ProviderOutage, TimeoutError):
    """The hosted model did not answer in time."""

    code = "model_timeout"


class ProviderNotConfigured(HostedError):
    """The provider refuses the key, the model or the address."""

    code = "provider_not_configured"
    kind = "config"


class InvalidCompletion(HostedError):
    """The hosted model gave no usable answer."""

    code = "invalid_completion"
    kind = "content"


class LocalLimit(HostedError):
    """This machine had no files, memory or space left for a hosted call."""

    code = "local_limit"
    kind = "local"


class ProviderError(HostedError):
    """The provider refused the request."""

    code = "provider_error"
