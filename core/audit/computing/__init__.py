"""How an audit is computed: its graphs, its cells and their keys."""
