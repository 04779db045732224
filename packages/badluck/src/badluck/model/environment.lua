-- What the servers let a script see of Lua: nothing that it could change for those after it.
-- Given the host's functions; gives one that compiles a text, and one that runs what came of it.
-- What a server has and this model lacks goes to host.lacks, which never returns.

local host = ...

local function unchangeable()
  error("Attempt to modify a readonly table", 2)
end

local function frozen(there, absent)
  return setmetatable({}, {
    __index = function(_, name)
      local value = there[name]
      if value == nil then return absent(name) end
      return value
    end,
    __newindex = unchangeable,
  })
end

local function library(name, from, lacking)
  local there, absent = {}, {}
  for each in string.gmatch(lacking, "%S+") do absent[each] = true end
  for each, value in pairs(from) do
    if not absent[each] then there[each] = value end
  end
  return frozen(there, function(each)
    if absent[each] then host.lacks(name .. "." .. each) end
  end)
end

local redis = {
  call = function(...)
    local failed, value = host.call(...)
    if failed then error(value, 0) end
    return value
  end,
  pcall = function(...)
    local _, value = host.call(...)
    return value
  end,
  error_reply = host.error_reply,
  status_reply = function(text) return { ok = text } end,
  replicate_commands = function() return true end, -- what it asks for is always so since Redis 7
}

local cjson = {
  encode = host.encode,
  decode = function(text)
    local failed, value = host.decode(text)
    if failed then error(value, 2) end
    return value
  end,
}

-- A table with an error in it is given to a script as the error's text. An exception of the host's is
-- nothing that a script may catch: a Ctrl-C that came while the host worked for it.
local function guarded(well, value, ...)
  if not well and type(value) == "userdata" then host.raised(value) end
  if not well and type(value) == "table" and value.err then return false, value.err end
  return well, value, ...
end

local seen = {
  assert = assert, error = error, ipairs = ipairs, next = next, pairs = pairs, select = select,
  tonumber = tonumber, tostring = tostring, type = type, unpack = unpack,
  pcall = function(...) return guarded(pcall(...)) end,
  math = library("math", math, "random randomseed"), -- the servers draw the same each time
  string = library("string", string, "dump"),
  table = library("table", table, ""),
  redis = library("redis", redis, [[
    sha1hex log LOG_DEBUG LOG_VERBOSE LOG_NOTICE LOG_WARNING setresp set_repl REPL_ALL REPL_AOF
    REPL_NONE REPL_REPLICA REPL_SLAVE breakpoint debug acl_check_cmd
    REDIS_VERSION REDIS_VERSION_NUM
  ]]),
  cjson = library("cjson", cjson, [[
    null new encode_sparse_array encode_max_depth decode_max_depth encode_number_precision
    encode_keep_buffer encode_invalid_numbers decode_invalid_numbers decode_array_with_array_mt
  ]]),
}
local lacking = {}
for name in string.gmatch([[
  bit cmsgpack struct os server collectgarbage coroutine gcinfo getmetatable setmetatable load
  loadstring rawequal rawget rawset xpcall newproxy _G _VERSION
]], "%S+") do lacking[name] = true end

local globals = frozen(seen, function(name)
  if lacking[name] then host.lacks(tostring(name)) end
  error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 3)
end)

local function compile(text)
  local body, why = loadstring(text, "@user_script")
  return body and setfenv(body, globals), why
end

local function run(body, keys, argv)
  seen.KEYS, seen.ARGV = keys, argv
  local well, value = pcall(body)
  if not well and type(value) == "userdata" then host.raised(value) end
  return well, value
end

return compile, run
