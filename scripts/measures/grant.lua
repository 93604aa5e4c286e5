-- Argument: a prefix of customers and keys.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(folder .. "requests.lua")

local prefix
local sent = 0

function init(arguments)
   prefix = arguments[1]
end

function request()
   sent = sent + 1
   local customer = prefix .. "-" .. sent
   return grant_request(customer, customer)
end
