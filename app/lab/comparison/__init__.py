"""A comparison: the same stampede over several ways to sell, one after the other.

`comparisons` starts a comparison and finds it again. `conduct` is the process that carries it out:
it starts one run at a time, as the Stampede page does. `bars` makes bars of the results, `finding`
and `remarks` make sentences of them.
"""
