"""Alembic migrations of the store; the database runs them when it is opened."""
