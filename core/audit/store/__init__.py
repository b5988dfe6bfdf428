"""What an audit leaves behind: rows in a database, arrays on the disk."""
