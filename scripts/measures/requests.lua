-- Code that the loads share: the requests, and the line of figures at the end.
-- There is no function `response`, because it would cost more than everything else. wrk itself counts the errors.
local key = os.getenv("DEED_BENCH_KEY")

local bearer = { ["Authorization"] = "Bearer " .. key }

function read_request(customer, query)
   return wrk.format(
      "GET", "/v1/customers/" .. customer .. "/entitlements" .. (query or ""), bearer)
end

-- `names` consists of JSON strings with commas between them.
function query_request(names)
   return wrk.format("POST", "/v1/entitlements/query", {
      ["Authorization"] = bearer["Authorization"],
      ["Content-Type"] = "application/json",
   }, '{"customers":[' .. names .. "]}")
end

-- Written by hand, because wrk.format takes much of an answer's time.
function post(path, header, body)
   return "POST " .. path .. " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " .. key
      .. "\r\nContent-Type: application/json\r\n" .. header .. "Content-Length: " .. #body
      .. "\r\n\r\n" .. body
end

local grant = '{"entitlement":"pro","for":"P30D","reason":"measured"}'

function grant_request(customer, idempotency_key)
   return post("/v1/customers/" .. customer .. "/grants",
      "Idempotency-Key: " .. idempotency_key .. "\r\n", grant)
end

function submission_request(customer, signed_transaction)
   return post("/v1/customers/" .. customer .. "/receipts", "",
      '{"environment":"sandbox","signed_transactions":["' .. signed_transaction .. '"]}')
end

function notification_request(signed_payload)
   return post("/v1/stores/apple/notifications", "", '{"signedPayload":"' .. signed_payload .. '"}')
end

function done(summary, latency)
   local errors = summary.errors
   io.write(string.format("figures %.1f %.2f %d %d %.3f %.2f\n",
      summary.requests / (summary.duration / 1e6), latency:percentile(99) / 1000,
      summary.requests,
      errors.connect + errors.read + errors.write + errors.status + errors.timeout,
      latency:percentile(50) / 1000, latency.max / 1000))
end
