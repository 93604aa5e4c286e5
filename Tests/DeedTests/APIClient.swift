import JSON
import Outbound
import TestSupport
import Threading

/// Calls the API of any service, over connections that it keeps open.
struct APIClient: ~Copyable {
    private var http: HTTPClient
    private let key: String

    init(key: String) throws {
        http = try HTTPClient()
        self.key = key
    }

    mutating func send(
        _ method: String, _ url: String, body: String = "", idempotencyKey: String? = nil,
        after position: String? = nil, timeoutMilliseconds: Int = 20_000
    ) throws -> (status: Int, text: String) {
        var headers = [("Authorization", "Bearer \(key)")]
        if let idempotencyKey { headers.append(("Idempotency-Key", idempotencyKey)) }
        if let position { headers.append(("Deed-After", position)) }
        var request = OutboundRequest(method, url, headers: headers, body: Array(body.utf8))
        request.timeoutMilliseconds = timeoutMilliseconds
        let response = try http.send(request)
        response.expectAsDocumented(method, url)
        return (response.status, String(decoding: response.body, as: UTF8.self))
    }

    mutating func get(
        _ url: String, headers: [(String, String)] = []
    ) throws -> OutboundResponse {
        let response = try http.send(
            OutboundRequest(
                "GET", url, headers: [("Authorization", "Bearer \(key)")] + headers))
        response.expectAsDocumented("GET", url)
        return response
    }

    mutating func events(of customer: String, at service: String) throws -> [JSON] {
        var events: [JSON] = []
        var after: Int64? = 0
        while let version = after {
            let path = "/v1/customers/\(customer)/events?limit=1000&after=\(version)"
            let page = try read(service + path)
            events += page["events"]?.array ?? []
            after = page["next"]?.integer
        }
        return events
    }

    /// Reads, and repeats the read as long as the service asks for that.
    mutating func read(_ url: String) throws -> JSON {
        for _ in 0..<100 {
            let answer = try send("GET", url, timeoutMilliseconds: Int(patient(20_000)))
            if answer.status == 200 { return try JSON.read(answer.text) }
            if answer.status != 503 { throw Installation.Failed(description: answer.text) }
            pause(milliseconds: 50)
        }
        throw Installation.Failed(description: "\(url) is never answered")
    }

    /// Returns a service's metrics without labels, by name.
    mutating func metrics(of service: RunningService) throws -> [String: Int64] {
        let lines = try send("GET", "\(service.url)/metrics").text.split(separator: "\n")
        return lines.reduce(into: [:]) { values, line in
            let words = line.split(separator: " ")
            if words.count == 2 { values[String(words[0])] = Int64(words[1]) }
        }
    }
}

extension OutboundResponse {
    fileprivate func expectAsDocumented(_ method: String, _ url: String) {
        ReceivedAnswer(
            method, url, status: status, headers: headers.map { (name: $0.0, value: $0.1) },
            body: String(decoding: body, as: UTF8.self)
        ).expectAsDocumented()
    }
}
