import Core
package import HTTPServer
import JSON
package import Service

/// Calls about a test database's clock.
struct ClockRoutes: Sendable {
    /// `nil` if the service uses the machine's clock.
    let clock: SharedClock?

    var routes: [Route] {
        [
            Route("GET", "/test/clock", .administer, .database, show),
            Route("PUT", "/test/clock", headers: [], .administer, .database, move),
        ]
    }

    private func show(_ call: Call) throws(Problem) -> Response {
        try answered { clock throws(CommandError) in try clock.answer() }
    }

    private func move(_ call: Call) throws(Problem) -> Response {
        let body = try Body(call.body, of: ["now", "advance"])
        switch (try body.optionalInstant("now"), try body.optionalDuration("advance")) {
        case (let instant?, nil):
            return try answered { clock throws(CommandError) in try clock.set(to: instant) }
        case (nil, let duration?):
            return try answered { clock throws(CommandError) in try clock.advance(by: duration) }
        default:
            throw .missing(
                "now", "Send either \"now\", an instant, or \"advance\", a duration like P40D.")
        }
    }

    private func answered(
        _ body: (SharedClock) throws(CommandError) -> ClockAnswer
    ) throws(Problem) -> Response {
        guard let clock else { throw Problem(.testClockMissing) }
        return .json(try obey(body(clock)).json)
    }
}

extension ClockAnswer {
    fileprivate var json: JSON {
        [
            "now": .string(now.text), "next_due": .optional(nextDue?.text),
            "caught_up": .bool(isCaughtUp),
        ]
    }
}

extension SharedClock {
    /// The header with the test clock's time, which is sent with every answer.
    package var header: Header { Header(.testClock, now.text) }
}
