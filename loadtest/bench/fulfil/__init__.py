"""fulfil's pace beside that of the sales that it books: into SQLite, and into PostgreSQL.

The servers are as the shop has them, log and syncs and all, in a temporary folder. In each cell
mode `atomic` first sells as fast as it can; then fulfil, a process as `up` starts it, books all of
that.
"""
