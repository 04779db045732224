"""A class with phones: who is in it, its sale from the countdown to the verdict.

`members` are the phones, `sale` starts and ends a sale and says how it stands, `follow` is what a
projector is told of it, `addresses` is where the phones find the shop. Nothing of it is kept in a
process: any of them may die, and any screen may be opened anew.
"""
