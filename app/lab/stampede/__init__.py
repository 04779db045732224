"""A stampede on the real shop, and the record of it that every screen reads.

`runs` starts one and finds it again, `drive` is the process that carries it out: `load` starts
the buyers, `scene` looks at the shop meanwhile. `events` is what a screen follows.
"""
