"""Runs the modes' real code in every order of its commands, with faults: what can go wrong?"""
