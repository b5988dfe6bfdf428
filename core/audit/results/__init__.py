"""What came of an audit: its tables, the risk of its nodes, what is exported."""
