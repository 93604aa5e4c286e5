-- Arguments: a prefix of customers and keys; and, to stop early, how many customers there are.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(folder .. "requests.lua")

local prefix, count
local sent = 0

function init(arguments)
   prefix = arguments[1]
   count = tonumber(arguments[2])
end

function request()
   local number = sent
   sent = sent + 1
   if count then
      -- The last ones are repeated: what is under way when wrk stops may never arrive.
      if sent > count + 256 then wrk.thread:stop() end
      number = number % count
   end
   local customer = prefix .. "-" .. number
   return grant_request(customer, customer)
end
