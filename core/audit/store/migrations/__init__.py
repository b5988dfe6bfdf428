"""Alembic migrations of the store; `core.audit.store.database` runs them when it opens a database."""
