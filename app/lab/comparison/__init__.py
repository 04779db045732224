"""The same stampede over several ways to sell, one after the other, and what it says of them.

`comparisons` starts one and finds it again, `conduct` is the process that carries it out: it has
one run at a time stampeded, as the Stampede page does. `figures` makes bars of the results.
"""
