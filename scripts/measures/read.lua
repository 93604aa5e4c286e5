-- Arguments: the number of customers, and the text after the path, if any.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(folder .. "requests.lua")

local customers, query

function init(arguments)
   customers = tonumber(arguments[1] or "10000")
   query = arguments[2] or ""
end

function request()
   return read_request("reader-" .. math.random(0, customers - 1), query)
end
