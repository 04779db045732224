"""The contract with programs: OpenAPI 3.1, from the operations of the views and our types.

An `Operation` (operation.py) decorates each view. document.py puts them together when the first
client asks.
"""
