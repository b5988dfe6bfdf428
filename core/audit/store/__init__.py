"""Storage of audits: rows in a database, arrays in files."""
