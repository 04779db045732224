"""How many purchases a second, beside what is usual: `lastapple bench http` and `bench growth`.

Three servers run at once, and are asked in turn: our shop as `lastapple up` brings it up, *the
usual shop* (`usual.py`), and the store without any HTTP in front. Only ratios within one run mean
anything.
"""
