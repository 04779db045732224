"""What shop and lab promise to programs: OpenAPI 3.1, from a table of operations and our own types.

No view knows of it. A table has a row for each endpoint (shop.py, lab_*.py), in the words of
parts.py; document.py puts them together when somebody asks for the first time.
"""
