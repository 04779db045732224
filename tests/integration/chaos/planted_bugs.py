"""All bugs that chaos must find."""

from __future__ import annotations

from tests.integration.chaos.bug import Bug, Change
from tests.integration.chaos.false_answers import LIES

BUGS = [
    Bug(
        "acknowledged before it is known",
        "atomic,watch",
        [
            Change(
                "service/purchase.py",
                "            except RoundLeft:  # perhaps after",
                '            except __import__("redis").RedisError:\n'
                "                sale = Sale(Outcome.SOLD, order=order)\n"
                "            except RoundLeft:  # perhaps after",
            )
        ],
    ),
    Bug(
        "units given back twice",
        "decr",
        [
            Change(
                "modes/decr.py",
                "        if left < 0:\n            self.give_back(order.quantity)\n",
                "        if left < 0:\n            self.give_back(order.quantity)\n"
                "            self.give_back(order.quantity)\n",
            )
        ],
    ),
    Bug(
        "a sale that is booked again counts again",
        "atomic",
        [
            Change(
                "store/sql/bulk.py",
                'ON CONFLICT ({key_columns}) DO NOTHING"',
                'ON CONFLICT ({key_columns}) DO " + '
                '("UPDATE SET quantity = orders.quantity + 1" '
                'if table.name == "orders" else "NOTHING")',
            )
        ],
    ),
    Bug(
        "the key is forgotten",
        "atomic",
        [
            Change(
                "store/lua/sell.lua",
                "redis.call('MSET', KEYS[3], ARGV[2], KEYS[4], ARGV[2])",
                "redis.call('SET', KEYS[3], ARGV[2])",
            ),
        ],
    ),
    Bug(
        "fencing tokens that nobody checks",
        "fenced",
        [
            Change(
                "store/lua/write_fenced.lua",
                "if tonumber(ARGV[1]) < tonumber(redis.call('GET', KEYS[1]) or '0') then",
                "if false then",
            )
        ],
        seeds=(391, 37, 135),  # of 400, their plans freeze workers most often
    ),
    Bug(
        "sold after the end of the round",
        "atomic",
        [
            Change(
                "store/lua/sell.lua",
                "local stock = redis.call('GET', KEYS[1])\n",
                "local stock = redis.call('GET', KEYS[1]) "
                "or redis.call('GET', KEYS[1] .. ':ended')\n",
            ),
        ],
    ),
    Bug(
        "acknowledged before the commit",
        "atomic",
        [
            Change(
                "service/booking.py",
                "        refused |= book(self.sessions, sold, mode)\n        booked",
                "        booked",
            ),
            Change(
                "service/booking.py",
                "            sales.let_go(self.store, names, booked)\n        if not refused:",
                "            sales.let_go(self.store, names, booked)\n"
                "        refused |= book(self.sessions, sold, mode)\n        if not refused:",
            ),
        ],
    ),
    Bug(
        "the last unit is never sold",
        "atomic",
        [
            Change("store/lua/sell.lua", "if left < 0 then", "if left < 1 then"),
        ],
    ),
    Bug(
        "each order takes one unit",
        "atomic",
        [
            Change(
                "store/lua/sell.lua",
                "redis.call('SET', KEYS[1], left)",
                "redis.call('SET', KEYS[1], tonumber(stock) - 1)",
            ),
        ],
    ),
    Bug(
        "nothing is watched",
        "watch",
        [
            Change(
                "modes/watch.py",
                "pipe.watch(*self.sales.reads(order))",
                "pipe.watch(*self.sales.reads(order)[1:])",
            ),
        ],
    ),
    Bug(
        "a hold's units are put back twice",
        "atomic",
        [
            Change(
                "store/lua/put_back.lua",
                "string.format('%.0f', units)",
                "string.format('%.0f', 2 * units)",
            )
        ],
        options=["--holds"],
    ),
    Bug(
        "paid for after it has expired",
        "atomic",
        [
            Change(
                "store/lua/settle.lua",
                "local stands = now >= tonumber(deadline) and",
                "local stands = ARGV[3] ~= 'PAID' and now >= tonumber(deadline) and",
            ),
            Change("store/lua/settle.lua", "if ended then", "if ended and ARGV[3] ~= 'PAID' then"),
        ],
        options=["--holds"],
    ),
    Bug(
        "an UPDATE that does not ask for the version",
        "sql_version",
        [
            Change(
                "modes/sql_version.py",
                "stock.of(self.round), StockRow.version == row.version)",
                "stock.of(self.round))",
            )
        ],
    ),
    Bug(
        "nobody sweeps, so what is not paid for stays held",
        "atomic",
        [
            Change(
                "service/holds.py",
                "    while some := self.holds.sweep(round, batch):",
                "    while some := 0:",
            )
        ],
        options=["--holds"],
    ),
    Bug(
        "a hold is forgotten when it ends, and its units with it",
        "atomic",
        [
            Change(
                "store/lua/put_back.lua",
                "redis.call('INCRBY', stock, string.format('%.0f', units))\n",
                "",
            )
        ],
        options=["--holds"],
    ),
    Bug(
        "paid for, and nothing written",
        "atomic",
        [Change("store/lua/settle.lua", "  redis.call('XADD', KEYS[5], '*', 'sale', sale)\n", "")],
        options=["--holds"],
    ),
    Bug(
        "the buyer's limit is looked at, and nothing comes of it",
        "watch",
        [
            Change(
                "store/round_sales.py",
                "elif self.most and bought + order.quantity > self.most:",
                "elif False:",
            )
        ],
    ),
    Bug(
        "a lock that everybody gets",
        "lock:lease",
        [
            Change(
                "locks/lease.py",
                "if self.store.set(self.key, self.token, nx=True,",
                "if self.store.set(self.key, self.token,",
            )
        ],
    ),
    Bug(
        "after one error of the store, a worker calls it away forever",
        "atomic",
        [
            Change(
                "service/purchase.py",
                "        repeat = order.key != order.id  # perhaps: a client sent the key\n",
                "        repeat = order.key != order.id\n"
                '        if getattr(self, "broken", False):\n'
                '            raise __import__("redis").ConnectionError("broken")\n',
            ),
            Change(
                "service/purchase.py",
                "            except RoundLeft:  # perhaps after the sale",
                '            except __import__("redis").RedisError:\n'
                "                self.broken = True\n"
                "                raise\n"
                "            except RoundLeft:  # perhaps after the sale",
            ),
        ],
    ),
    Bug(
        "the log is synced every second, and the answer does not wait for it",
        "atomic",
        [
            Change(
                "config.py",
                'return "everysec" if self.durability == "fast" else "always"',
                'return "everysec"',
            )
        ],
        seeds=(36, 18, 306),  # of 400, their plans cut the log most often
        options=["--holds"],
    ),
    Bug(
        "told of a sale that no replica has",
        "atomic",
        [Change("store/servers.py", "    if not replicas:", "    if replicas is None:")],
        options=["--durability", "replicated"],
    ),
    Bug(
        "an ended hold still counts against its buyer",
        "atomic",
        [
            Change(
                "store/lua/put_back.lua",
                "redis.pcall('DECRBY', counter, ARGV[at + 1])",
                "redis.pcall('GET', counter)",
            )
        ],
        options=["--holds"],
    ),
    *LIES,
]
