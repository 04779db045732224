"""Redis or Valkey, and the database: clients, names, records, tables."""
