"""The shop's side of the contract: /openapi.json."""
