-- Sends what strangers might send, as fast as possible. Arguments: the folder with the evidence, and its kind.
local kind, send
local sent = 0
local digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

local function base64(text)
   local out = {}
   for place = 1, #text, 3 do
      local a, b, c = text:byte(place, place + 2)
      local word = a * 65536 + b * 256 + c
      for shift = 3, 0, -1 do
         local digit = math.floor(word / 64 ^ shift) % 64 + 1
         out[#out + 1] = digits:sub(digit, digit)
      end
   end
   return table.concat(out)
end

local function post(path, body)
   return "POST " .. path .. " HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2."
      .. sent % 250 .. "\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end

local function notification(text)
   return post("/v1/stores/apple/notifications", '{"signedPayload":"' .. text .. '"}')
end

local function first_line(path) return io.open(path):read("l") end

function init(arguments)
   local folder
   folder, kind = arguments[1], arguments[2]
   if kind == "healthz" then
      send = function() return "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" end
   elseif kind == "garbage" then
      local text = string.rep("garbage.", 800)
      send = function() return notification(text) end
   elseif kind == "big" then
      local body = string.rep("x", 4 * 1024 * 1024)
      send = function() return post("/v1/customers/u1/receipts", body) end
   else
      -- The payload belongs to another piece, so the signature is wrong.
      local tail = first_line(folder .. "/notifications"):gsub("%.[^.]*$", "." .. string.rep("Q", 86))
      local header, rest = first_line(folder .. "/header"), first_line(folder .. "/forgeable")
      if kind == "signature" then
         send = function() return notification(header .. "." .. tail) end
      else
         -- The server has not seen this header, so it has to check the certificates.
         send = function()
            local start = string.format('{"kid":"%014d",', sent * 100000 + math.random(99999))
            return notification(base64(start) .. rest .. "." .. tail)
         end
      end
   end
   math.randomseed(os.time())
end

function request()
   sent = sent + 1
   return send()
end
