"""The command line: arguments in, one line on errors out."""
