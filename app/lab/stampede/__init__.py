"""A stampede on the real shop, and its record that every screen reads.

`runs` starts a run and finds it again. `drive` is the process that carries it out: `load` starts
the buyers, `scene` reads the shop meanwhile. A screen follows `events`.
"""
