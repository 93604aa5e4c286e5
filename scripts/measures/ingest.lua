-- Submits minted evidence, each piece once, each transaction for another customer.
-- Arguments: the folder with the evidence, its kind, and the number of lines already used.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(folder .. "requests.lua")

local kind, header, lines
local sent = 0

function init(arguments)
   kind = arguments[2]
   header = io.open(arguments[1] .. "/header"):read("l")
   lines = io.lines(arguments[1] .. "/" .. kind)
   for _ = 1, tonumber(arguments[3]) do lines() end
   sent = tonumber(arguments[3])
end

function request()
   sent = sent + 1
   local text = header .. "." .. assert(lines(), "there is no more evidence")
   if kind == "notifications" then
      return notification_request(text)
   end
   return submission_request("buyer-" .. sent, text)
end
