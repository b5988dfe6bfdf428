"""Alembic migrations of the store; `core.audit.store` runs them when it opens a database."""
