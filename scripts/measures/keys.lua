-- Reads from memory with one key after another. Arguments: a file with a key in each line, and the number of
-- customers.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(folder .. "requests.lua")

local headers, sent, customers = {}, 0, nil

function init(arguments)
   for key in io.lines(arguments[1]) do headers[#headers + 1] = { ["Authorization"] = "Bearer " .. key } end
   customers = tonumber(arguments[2])
end

function request()
   sent = sent + 1
   local customer = "reader-" .. math.random(0, customers - 1)
   return wrk.format("GET", "/v1/customers/" .. customer .. "/entitlements", headers[sent % #headers + 1])
end
