"""The database: engine, transactions, tables, and what is asked of each."""
