-- wrk's buyer: POSTs one body again and again and counts the answers by what their body says.
--   wrk -s post.lua <url> -- <outcome that counts>      SOLD, or NOOP for the yardstick
-- Prints, after wrk's own report, one line of JSON: {"good": …, "all": …, "seconds": …}.

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  -- Globals, because thread:get() below reads no others.
  good, all = 0, 0
  wanted = '"outcome":%s*"' .. args[1] .. '"'
  wrk.method = "POST"
  wrk.body = '{"quantity":1}'
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["Accept"] = "application/json"
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
  print(string.format('{"good": %d, "all": %d, "seconds": %f}', good, all, summary.duration / 1e6))
end
