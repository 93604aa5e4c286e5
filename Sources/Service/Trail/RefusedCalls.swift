package import Core
import Synchronization

/// Refused calls that were made with people's keys and are still to be written to the database.
package final class RefusedCalls: Sendable {
    /// The maximum number of waiting calls. Any more calls are dropped until the next write.
    private static let limit = 5000

    private let waiting = Mutex<[RefusedCall]>([])
    private let keeping: any TrailKeeping
    private let secrets: Secrets
    private let now: @Sendable () -> Instant

    init(_ ports: Ports) {
        keeping = ports.trail
        secrets = ports.secrets
        now = ports.now
    }

    /// Returns whether refused calls of this key are recorded.
    package func keeps(_ key: LiveKey) -> Bool { key.role.isOfPeople }

    /// Records a refusal. `details` says what the call was about.
    package func note(
        _ key: LiveKey, _ call: String, status: Int, code: String,
        details: (inout RefusedCall) -> Void
    ) {
        var refused = RefusedCall(
            project: key.project, at: now(), id: secrets.randomText(bytes: 8), key: key.key,
            call: call, status: status, code: code)
        details(&refused)
        waiting.withLock { [refused] waiting in
            if waiting.count < RefusedCalls.limit { waiting.append(refused) }
        }
    }

    /// Writes the waiting refusals, and deletes stored ones that exceed the maximum age or number.
    package func write() throws(Fault) {
        let calls = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        if calls.isEmpty { return }
        do throws(Fault) {
            try keeping.note(calls)
        } catch {
            waiting.withLock { $0 = Array((calls + $0).prefix(RefusedCalls.limit)) }
            throw error
        }
        let since = now().advanced(byMilliseconds: -RefusedCall.keptFor)
        for project in Set(calls.map(\.project)) {
            try keeping.forgetRefusedCalls(
                of: project, before: since, beyond: RefusedCall.countLimit)
        }
    }
}
