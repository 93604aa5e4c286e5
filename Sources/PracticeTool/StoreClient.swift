import Commands
import Core
import JSON
import Outbound
import Threading

/// Calls a running practice store.
struct StoreClient {
    /// How long to wait, in milliseconds, for a store to start listening.
    private static let patience: Int64 = 5000

    private let base: String

    init(_ invocation: Invocation) {
        base = invocation["url"] ?? ""
    }

    func notificationURL() throws(CommandEnd) -> String? {
        try ask("GET", "/practice/state?customer=-")["notification_url"]?.string
    }

    func ask(_ method: String, _ target: String, _ body: JSON? = nil) throws(CommandEnd) -> JSON {
        var request = OutboundRequest(
            method, base + target, headers: [("Content-Type", "application/json")],
            body: body?.bytes ?? [])
        // Simulating two years for many customers takes a long time.
        request.timeoutMilliseconds = 600_000
        let answer = try send(request)
        guard let json = try? JSON.read(answer.body) else {
            throw .fault("\(base) is not a practice store; check --url")
        }
        // Errors from Deed have a `type`. Errors from a practice store have none.
        if json["type"] != nil, json["title"] != nil {
            throw .usage(
                "\(base) is a Deed, not a practice store; name the store with --url or "
                    + "DEED_PRACTICE_URL, as deed-practice serve prints it")
        }
        if (200..<300).contains(answer.status) { return json }
        let detail = json["detail"]?.string ?? json.text
        switch answer.status {
        case 409: throw .refused(detail)
        case 400..<500: throw .usage(detail)
        default: throw .fault(detail)
        }
    }

    /// Sends a request. If the store has just been started, waits for it to listen.
    private func send(_ request: OutboundRequest) throws(CommandEnd) -> OutboundResponse {
        let deadline = machineClock().advanced(byMilliseconds: StoreClient.patience)
        while true {
            do throws(OutboundError) {
                var client = try HTTPClient()
                return try client.send(request)
            } catch {
                if case .unreachable = error, machineClock() < deadline {
                    pause(milliseconds: 100)
                    continue
                }
                throw .fault(
                    "\(base) does not answer: \(error); start it with: deed-practice serve")
            }
        }
    }
}
