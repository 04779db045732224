"""Random draws and orders of a real server, fixed to the model's choices.

Otherwise a schedule could not be played again. The conformance walks check the model against the
server's own choices.
"""

from __future__ import annotations

from collections.abc import Sequence

from badluck.model.values import Command, Reply

# The alphabetically first ones, or the lowest, as the model draws them; the server itself rejects
# wrong words.
DRAW = b"""
local sorted, count = ARGV[1] == 'ZRANDMEMBER', tonumber(ARGV[3])
local members = sorted and redis.call('ZRANGE', KEYS[1], 0, -1) or redis.call('SMEMBERS', KEYS[1])
local takes = ARGV[1] == 'SPOP'
if #ARGV > 3 or (ARGV[3] and not count) or (takes and (count or 0) < 0) then
  return redis.call(unpack(ARGV))
end
if not sorted then table.sort(members) end
local again, drawn = (count or 0) < 0, {}
for nth = 1, #members > 0 and (again and -count or math.min(count or 1, #members)) or 0 do
  drawn[nth] = members[again and 1 or nth]
end
if takes and #drawn > 0 then redis.call('SREM', KEYS[1], unpack(drawn)) end
return count and drawn or drawn[1]
"""
DRAWN = {b"SPOP", b"SRANDMEMBER", b"ZRANDMEMBER"}
UNSORTED = {b"SMEMBERS", b"SINTER", b"SUNION", b"SDIFF", b"KEYS"}
PAGES = {b"SCAN", b"SSCAN"}  # the second part of their replies is unsorted


def fix_command(command: Command) -> Command:
    """Return the command to send in its place."""
    if command[0] in DRAWN and len(command) > 1:
        return (b"EVAL", DRAW, b"1", command[1], *command)
    return command


def sort_replies(commands: Sequence[Command], said: Sequence[Reply]) -> tuple[Reply, ...]:
    """Return the replies, in alphabetical order where the server has an order of its own."""
    if len(commands) != len(said):  # with messages: then nothing is sorted
        return tuple(said)
    return tuple(
        _told(command, reply, commands) for command, reply in zip(commands, said, strict=True)
    )


def _told(command: Command, reply: Reply, unit: Sequence[Command]) -> Reply:
    if not isinstance(reply, tuple):
        return reply
    if command[0] == b"EXEC":
        return sort_replies(unit[1:-1], reply)
    if command[0] in PAGES:
        cursor, page = reply
        return cursor, _in_order(page)
    return _in_order(reply) if command[0] in UNSORTED else reply


def _in_order(found: Reply) -> Reply:
    words = found if isinstance(found, tuple) else ()
    return tuple(sorted(word for word in words if isinstance(word, bytes)))
