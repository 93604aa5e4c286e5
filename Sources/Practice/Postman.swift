internal import Outbound
internal import Threading

/// Posts notifications one after another.
package final class Postman: Sendable {
    private let client: Monitor<HTTPClient>

    /// The time limit for the receiver's answer, in milliseconds.
    private static let patience = 10_000

    package init() throws(PracticeError) {
        do throws(OutboundError) {
            client = Monitor(try HTTPClient())
        } catch {
            throw .broken(error.description)
        }
    }

    /// Posts the body. Returns the result, as named in the notification history.
    package func send(_ url: String, _ body: [UInt8]) -> String {
        var request = OutboundRequest(
            "POST", url, headers: [("Content-Type", "application/json")], body: body)
        request.timeoutMilliseconds = Self.patience
        do throws(OutboundError) {
            let answer = try client.change { client throws(OutboundError) in
                try client.send(request)
            }
            return (200...206).contains(answer.status)
                ? "SUCCESS" : "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
        } catch {
            return switch error {
            case .timedOut: "TIMED_OUT"
            case .untrusted: "TLS_ISSUE"
            case .unreachable: "NO_RESPONSE"
            case .replyTooLarge: "INVALID_RESPONSE"
            case .brokenOff: "PREMATURE_CLOSE"
            case .forbidden, .cancelled, .overloaded: "OTHER"
            case .malformedRequest: "OTHER"
            }
        }
    }
}
