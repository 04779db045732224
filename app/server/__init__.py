"""Parts of both HTTP servers: worker, limits, errors, health, metrics, languages, contract."""
