"""What an audit is asked: its spec, choices of methods, knowledge of attackers."""
