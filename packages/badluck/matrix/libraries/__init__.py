"""One file for each library: who does what with it, what it promises, and what may go wrong.

Each actor imports these modules anew, thousands of times: functions and dicts, nothing heavier.
"""
