"""fulfil's pace next to that of the sales that it books: into SQLite, and into PostgreSQL.

The servers are the shop's, with log and syncs, in a temporary folder. In each cell mode `atomic`
first sells as fast as it can; then fulfil, a process as `up` starts it, books all of that.
"""
