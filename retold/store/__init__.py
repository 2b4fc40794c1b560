"""One SQLite file: transactions and the repositories that live in them."""

from retold.store.store import Store
from retold.store.transaction import Transaction

__all__ = ["Store", "Transaction"]
