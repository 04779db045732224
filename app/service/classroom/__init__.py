"""A class with phones: its members, and the notices that their phones show.

`members` collects the phones that a worker hears, `roll` says which of them have a place. `notices`
and `ending` say what a phone shows: the class's beginning, and the end of its sale. The sale itself
and the projector's page are the lab's (app/lab/classroom). No state is in a process only: any
process may die, and any screen may be reopened.
"""
