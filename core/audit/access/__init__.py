"""Who may do what with whose audits, and the record of who did."""
