import Commands
import Core
import Foundation
import JSON
import Outbound

/// The clock of a Deed server that runs with `--test-clock`. It follows the store's clock.
struct ServiceClock: Sendable {
    /// The largest step by which the clock moves. It is one day, so that the service's daily work runs every day.
    private static let day: Int64 = 86_400_000

    private let base: String
    private let key: String

    /// Returns `nil` if the command line does not name a service.
    init?(_ invocation: Invocation) throws(CommandEnd) {
        guard let url = invocation["service-url"] else {
            if invocation["service-key"] != nil {
                throw invocation.usage("--service-key requires --service-url")
            }
            return nil
        }
        base = url.hasSuffix("/") ? String(url.dropLast()) : url
        let variable = ProcessInfo.processInfo.environment["DEED_PRACTICE_SERVICE_KEY"]
        if let file = invocation["service-key"] {
            guard let data = FileManager.default.contents(atPath: file) else {
                throw .refused("\(file) cannot be read; it should contain an admin key for Deed")
            }
            let text = String(decoding: data, as: UTF8.self)
            key = text.trimmingCharacters(in: .whitespacesAndNewlines)
        } else if let variable, !variable.isEmpty {
            key = variable
        } else {
            throw invocation.usage(
                "--service-url needs an admin key for Deed: --service-key FILE, or "
                    + "DEED_PRACTICE_SERVICE_KEY")
        }
    }

    func now() throws(CommandEnd) -> Instant { try ask("GET").now }

    /// Moves the service's clock to the target, with a pause at each instant at which something becomes due. If the
    /// clock is already ahead, it does not change.
    func follow(_ target: Instant) throws(CommandEnd) {
        var state = try ask("GET")
        while state.now < target {
            // The clock does not advance until all due work is done.
            if !state.isCaughtUp {
                throw .fault(
                    "\(base) has not finished the work that is due by \(state.now.text); see its log"
                )
            }
            let step =
                [state.due, state.now.advanced(byMilliseconds: ServiceClock.day), target]
                .compactMap(\.self).min() ?? target
            state = try ask("PUT", ["now": .string(step.text)])
        }
    }

    private func ask(
        _ method: String, _ body: JSON? = nil
    ) throws(CommandEnd) -> (now: Instant, due: Instant?, isCaughtUp: Bool) {
        var request = OutboundRequest(
            method, "\(base)/v1/test/clock",
            headers: [
                ("Authorization", "Bearer \(key)"), ("Content-Type", "application/json"),
            ], body: body?.bytes ?? [])
        // Deed waits for its jobs for up to ten seconds before it answers.
        request.timeoutMilliseconds = 30_000
        let answer: OutboundResponse
        do throws(OutboundError) {
            var client = try HTTPClient()
            answer = try client.send(request)
        } catch {
            throw .fault("\(base) does not answer: \(error); check that Deed runs there")
        }
        let json = try? JSON.read(answer.body)
        guard answer.status == 200, let now = json?["now"]?.string.flatMap({ Instant(text: $0) })
        else {
            let detail = json?["detail"]?.string ?? "status \(answer.status)"
            throw .refused("the clock of \(base) cannot be moved: \(detail)")
        }
        let due = json?["next_due"]?.string.flatMap { Instant(text: $0) }
        return (now, due, json?["caught_up"]?.bool ?? true)
    }
}
