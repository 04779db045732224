"""Effects of one step's commands on a lock: a key that exists while it is held."""

from __future__ import annotations

from badluck.model.values import Command, Entry

WRITES = (b"SET", b"SETEX", b"PSETEX")
DELETES = (b"DEL", b"UNLINK", b"GETDEL")
SCRIPTS = (b"EVAL", b"EVALSHA")
RENAMES = (b"RENAME", b"RENAMENX")
ENDS = (b"EXPIRE", b"PEXPIRE")


def takes(command: Command) -> bool:
    """Does it try to write a key only if it does not exist?"""
    words = [word.upper() for word in command[3:]]
    return command[0] == b"SETNX" or (command[0] == b"SET" and b"NX" in words)


def taken(
    key: bytes, commands: tuple[Command, ...], before: Entry | None, after: Entry | None
) -> set[bool]:
    """Does the actor hold the lock after these commands? Both, where only its own code can tell.

    Adding to a number that exists, or renewing the lock, does not take it.
    """
    if after is None or not commands:
        return {False}
    if before is None:
        return {True}
    changes = before.value != after.value
    over = any(_over(key, command, changes) for command in commands)
    if len(commands) == 1 and commands[0][0] not in SCRIPTS:
        return {over}
    if over and before != after:
        return {True}
    replaced = over or (changes and any(_may_remove(key, command) for command in commands))
    return {True, False} if replaced else {False}  # a WATCH may have kept it from being done


def gives_back(
    key: bytes, commands: tuple[Command, ...], before: Entry | None, after: Entry | None
) -> bool:
    """Has the actor given the lock back by these commands? Also one that has expired."""
    if commands and before and not after:
        return True
    # A script that gets the key and changes nothing says: not yours.
    leaves = (*DELETES, *SCRIPTS) if after in (None, before) else DELETES
    gone = after is None
    return any(
        (command[0] in leaves and key in command) or (gone and _ends(key, command))
        for command in commands
    )


def _over(key: bytes, command: Command, changes: bool) -> bool:
    """Does it write the key whatever its value is? A GETSET of the same value only asks."""
    if command[0] == b"MSET":
        return key in command[1::2]
    if command[0] in RENAMES:
        return changes and command[2] == key
    if command[0] == b"GETSET":
        return changes and command[1] == key
    return command[0] in WRITES and command[1] == key and not takes(command)


def _may_remove(key: bytes, command: Command) -> bool:
    """Say whether it may have removed the old value, so that other commands wrote it again."""
    return (command[0] in (*DELETES, *SCRIPTS) and key in command) or _ends(key, command)


def _ends(key: bytes, command: Command) -> bool:
    """Does it make the key vanish, as `PEXPIRE key 0` does?"""
    name, *words = command
    if name in RENAMES:
        return words[0] == key
    return name in ENDS and words[0] == key and (words[1][:1] == b"-" or not words[1].strip(b"0"))
