"""Small programs, drawn at random, each of which keeps an answer in another place.

Between two requests of a program the first answer may wait in a variable, on the interpreter's
stack, in a generator, in a C function, in redis-py, in an object. Wherever it is, the explorer has
to tell apart two actors that differ by it.
"""

from __future__ import annotations

from random import Random

KEYS = ("k1", "k2", "k3")

PRELUDE = """
import contextlib, functools, itertools, operator
from dataclasses import dataclass

def num(value):
    return int(value or 0)

class Box:
    seen = 0
    def __init__(self):
        self.items, self.n = [], 0
    def put(self, value):
        self.items.append(value)
        return self
    @property
    def total(self):
        return sum(self.items)
    def __add__(self, other):
        return self.n + other

class Slot:
    __slots__ = ("value",)

@dataclass
class Pair:
    a: int
    b: int

@contextlib.contextmanager
def holding(r, key):
    value = num(r.get(key))
    try:
        yield value
    finally:
        r.incrby("k3", value % 2)

def each(r, *keys):
    for key in keys:
        yield num(r.get(key))

def twice(deed):
    def inner(*args):
        return deed(*args) + deed(*args)
    return inner

def add(a, b=0, *more, **named):
    return a + b + sum(more) + sum(named.values())

def summed(r, *keys):
    return num(r.get(keys[0])) + summed(r, *keys[1:]) if keys else 0
"""

# K and L stand for what is read of two keys, k and l for their names.
VALUES = """
K + L
max(K, L)
min(('k', 'l'), key=lambda key: num(r.get(key))).count('2')
sorted(('k', 'l'), key=lambda key: num(r.get(key)))[0].count('1')
sum(num(r.get(key)) for key in ('k', 'l'))
sum([num(r.get(key)) for key in ('k', 'l')])
sum(map(lambda key: num(r.get(key)), ('k', 'l')))
len(list(filter(lambda key: num(r.get(key)), ('k', 'l'))))
functools.reduce(lambda sofar, key: sofar + num(r.get(key)), ('k', 'l'), 0)
functools.partial(add, K)(L)
operator.add(K, L)
next(itertools.accumulate(each(r, 'k', 'l')))
list(itertools.chain(each(r, 'k'), each(r, 'l')))[0]
list(zip(each(r, 'k'), each(r, 'l')))[0][0]
sum(each(r, 'k', 'l'))
next(each(r, 'k')) + L
add(K, L)
add(*[K], b=L)
add(K, **dict(named=L))
twice(lambda key: num(r.get(key)))('k')
summed(r, 'k', 'l')
(lambda one, two=K: one + two)(L)
(kept := K) + L * (kept + 1)
(K, L)[0]
[K, L][0]
{'a': K, 'b': L}['a']
len({K, L})
int(K < L <= K)
int(bool(K and L))
K or L
K if L else 0
int(any(num(r.get(key)) > 1 for key in ('k', 'l')))
int(all(num(r.get(key)) for key in ('k', 'l')))
int(f"{K}{L}")
num('%s' % K) + L
2 * L - K
Pair(K, L).a
Box().put(K).put(L).total
num(r.mget('k', 'l')[1])
num(r.pipeline().get('k').get('l').execute()[0])
num(r.pipeline(transaction=False).get('k').get('l').execute()[0])
r.transaction(lambda p: (num(p.get('k')), p.multi(), p.get('l'))[0], 'k', value_from_callable=True)
""".strip().splitlines()

STATEMENTS = """
t = V
t += V
t = t if K else V
a, b = K, L; t += a
box.n = K; t += box + L
box.put(K); r.get('l'); t += box.total
slot = Slot(); slot.value = K; r.get('l'); t += slot.value
Box.seen = K; r.get('l'); t += Box.seen
num.last = K; r.get('l'); t += num.last
globals()['kept'] = K; r.get('l'); t += kept
it = iter([K, 5]); r.get('l'); t += next(it)
it = each(r, 'k', 'l'); next(it); t += next(it)
it = (num(r.get(key)) for key in ('k', 'l')); next(it); t += next(it)
xs = [0, 0]; xs[K % 2] = L + 1; t += xs[0]
xs = {}; xs[K] = L; t += sum(xs)
p = r.pipeline(transaction=False); p.get('k'); p.get('l'); a, b = p.execute(); t += num(a)
p = r.pipeline(); p.watch('k'); a = num(p.get('k')); p.multi(); p.incr('l'); t += a; p.execute()
assert K >= 0 or L
for key in ('k', 'l'): t += num(r.get(key))
for value in each(r, 'k', 'l'): t = value
while K > t and t < 2: t += 1
with holding(r, 'k') as value: t = L
with holding(r, 'k') as value: t = L + value
t += (lambda: (K, L))()[0]
""".strip().splitlines()

BLOCKS = (
    """
    try:
        t = 1 // K
    except ZeroDivisionError:
        t = L
    finally:
        r.incr('k')
""",
    """
    def inner():
        nonlocal t
        t += K
        return L
    t += inner()
""",
    """
    def inner():
        try:
            return K
        finally:
            r.get('l')
    t = inner()
""",
    """
    match K:
        case 1: t += L
        case value if value > 1: t += value + L
        case _: r.get('l')
""",
)


def program(random: Random) -> str:
    """Return a program that writes one key, reads two, writes a result, and may sell one unit."""
    first = random.choice(("r.incr('{}')", "r.set('{}', 1 if name == 'A' else 2)"))
    last = random.choice(("r.set('{}', t % 4)", "r.incrby('{}', t % 3)", "r.incr('{}')"))
    inner = random.choice((*(f"\n    {line}\n" for line in STATEMENTS), *BLOCKS))
    filled = inner.replace("V", random.choice(VALUES))
    for letter in "kl":
        key = random.choice(KEYS)
        filled = filled.replace(letter.upper(), f"num(r.get('{key}'))")
        filled = filled.replace(f"'{letter}'", f"'{key}'")
    return (
        f"{PRELUDE}\ndef run(r, name):\n    t, box = 0, Box()\n"
        f"    {first.format(random.choice(KEYS))}{filled}    {last.format(random.choice(KEYS))}\n"
        "    if t % 2:\n        return False\n"
        "    r.decr('stock')\n    r.rpush('orders', name)\n    return True\n"
    )
