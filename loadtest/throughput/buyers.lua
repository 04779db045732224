-- wrk's buyers: each POST has a key of its own, as browsers send one; answers count by their body.
--   wrk -s buyers.lua <url> -- <outcome that counts> <what no other run's keys begin with> <path> ...
-- Prints, after wrk's own report, one line of JSON: {"good", "all", "seconds", "p50_ms", "p99_ms"}.

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  -- Globals, because thread:get() below reads no others.
  good, all, number = 0, 0, 0
  wanted = '"outcome":%s*"' .. args[1] .. '"'
  wrk.method = "POST"
  wrk.body = '{"quantity":1}'
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["Accept"] = "application/json"
  wrk.headers["Idempotency-Key"] = "@"
  -- Formatted once: to put a request together again takes longer than everything else in wrk.
  heads, tails = {}, {}
  for place = 3, #args do
    local head, tail = wrk.format(nil, args[place]):match("^(.-)@(.*)$")
    table.insert(heads, head .. args[2] .. "-")
    table.insert(tails, tail)
  end
end

function request()
  number = number + 1
  local turn = number % #heads + 1
  return string.format("%s%08d%s", heads[turn], number, tails[turn])
end

function response(status, headers, body)
  all = all + 1
  if body:find(wanted) then
    good = good + 1
  end
end

function done(summary, latency, requests)
  local good, all = 0, 0
  for _, thread in ipairs(threads) do
    good = good + thread:get("good")
    all = all + thread:get("all")
  end
  print(string.format('{"good": %d, "all": %d, "seconds": %f, "p50_ms": %f, "p99_ms": %f}', good, all,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
