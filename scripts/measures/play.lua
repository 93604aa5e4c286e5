-- Submits purchase tokens of Google Play, each once and for another customer.
-- Arguments: the beginning of the tokens, and how many apps take turns.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(folder .. "requests.lua")

local prefix, apps
local sent = 0

function init(arguments)
   prefix, apps = arguments[1], tonumber(arguments[2])
end

function request()
   sent = sent + 1
   local package = "com.example.app" .. sent % apps
   return post("/v1/customers/player-" .. prefix .. sent .. "/receipts", "",
      '{"google":[{"package":"' .. package .. '","token":"' .. prefix .. sent .. '"}]}')
end
