"""The database: engine, transactions, tables, and the statements on each."""
