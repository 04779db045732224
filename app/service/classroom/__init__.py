"""A class with phones: who is in it, its sale from the countdown to the verdict.

`members` are the phones, `roll` says which of them have a place; `sale` starts and ends a sale and
says how it stands; `follow` is what a projector is told of it, `notices` and `ending` what phones
are told; `addresses` is where these find the shop. Nothing of it is kept in a process only: any of
them may die, and any screen may be opened anew.
"""
