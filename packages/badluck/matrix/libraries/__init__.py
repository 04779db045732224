"""One file for each library: the actors that use it, its promises, and what may go wrong.

Each actor imports these modules again, thousands of times: functions and dicts, nothing heavier.
"""
