-- Arguments: the number of customers, and the number in one call.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(folder .. "requests.lua")

local customers, size

function init(arguments)
   customers = tonumber(arguments[1])
   size = tonumber(arguments[2])
end

function request()
   local names = {}
   for place = 1, size do
      names[place] = '"reader-' .. math.random(0, customers - 1) .. '"'
   end
   return query_request(table.concat(names, ","))
end
