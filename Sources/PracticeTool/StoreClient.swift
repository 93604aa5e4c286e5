import Foundation
import JSON
import Outbound

/// Asks a practice store that runs.
struct StoreClient {
    private let base: String

    init(_ arguments: Arguments) {
        let variable = ProcessInfo.processInfo.environment["DEED_PRACTICE_STORE"]
        base = arguments["store"] ?? variable ?? "http://127.0.0.1:9090"
    }

    func ask(_ method: String, _ target: String, _ body: JSON? = nil) throws(ToolEnd) -> JSON {
        var request = OutboundRequest(
            method, base + target, headers: [("Content-Type", "application/json")],
            body: body?.bytes ?? [])
        // Two simulated years of many lives take their time.
        request.timeoutMilliseconds = 600_000
        let answer: OutboundResponse
        do throws(OutboundError) {
            var client = try HTTPClient()
            answer = try client.send(request)
        } catch {
            throw .fault("\(base) does not answer: \(error); start it with: deed-practice serve")
        }
        guard let json = try? JSON.read(answer.body) else {
            throw .fault("\(base) is no practice store; see --store")
        }
        if (200..<300).contains(answer.status) { return json }
        let detail = json["detail"]?.string ?? json.text
        switch answer.status {
        case 409: throw .refused(detail)
        case 400..<500: throw .usage(detail)
        default: throw .fault(detail)
        }
    }
}
