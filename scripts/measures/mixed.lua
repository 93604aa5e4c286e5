-- Argument: the prefix of the customers who get grants.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(folder .. "requests.lua")

local prefix
local sent = 0

function init(arguments)
   prefix = arguments[1]
end

function request()
   sent = sent + 1
   if sent % 10 == 0 then
      local customer = prefix .. "-" .. sent
      return grant_request(customer, customer)
   end
   return read_request("reader-" .. math.random(0, 9999))
end
