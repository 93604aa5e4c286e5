-- Searches for random names. Arguments: a file with a name in each line, and the path before the name.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)")
dofile(folder .. "requests.lua")

local key = os.getenv("DEED_BENCH_KEY")
local names, path = {}, nil

function init(arguments)
   for name in io.lines(arguments[1]) do names[#names + 1] = name end
   path = arguments[2]
   math.randomseed(os.time())
end

function request()
   return wrk.format("GET", path .. names[math.random(#names)], { ["Authorization"] = "Bearer " .. key })
end
