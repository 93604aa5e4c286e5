local folder = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(folder .. "requests.lua")

function request()
   return read_request("reader-" .. math.random(0, 9999))
end
