"""Beyond the paper: what can be decided about any list of queries, and with fewer of them."""
