"""Purchases a second compared with the usual shop: `lastapple bench http` and `bench growth`.

Three servers run at once, and are loaded in turn: our shop as `lastapple up` starts it, *the usual
shop* (`usual.py`), and the store without any HTTP in front. Only ratios within one run mean
anything.
"""
