-- Gives each of the customers reader-FIRST, reader-FIRST+1, ... a grant. Argument: FIRST.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(folder .. "requests.lua")

local next_reader

function init(arguments)
   next_reader = tonumber(arguments[1])
end

function request()
   local customer = "reader-" .. next_reader
   next_reader = next_reader + 1
   return grant_request(customer, customer)
end
