"""Permissions of people on each other's audits, and the audit trail."""
