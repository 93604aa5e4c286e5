package import Core
package import JSON
package import Ledger
import Threading

extension Job {
    /// Shows other processes that this instance is alive, stores the instance's report about itself, and notes what
    /// stores have reported.
    package static func signOfLife(
        of instance: String, _ ledger: Ledger, news: @escaping @Sendable () -> [String],
        says: @escaping @Sendable () -> JSON?
    ) -> Job {
        let begin = monotonicMilliseconds()
        return Job("sign_of_life", .everywhere(milliseconds: 5000), urgency: .patient) {
            _ throws(Fault) in
            guard let says = says() else { return .asScheduled }
            do throws(Fault) {
                try ledger.noteInstance(
                    instance, startedAgo: monotonicMilliseconds() - begin, says: says.text)
                for name in news() { try ledger.note(done: name, says: "{}") }
            } catch {
                // If the database is unusable, this job need not report it: the instance then shows no signs of life
                // and is not ready anyway.
                if ledger.impediments.isEmpty, !error.isOfWholeDatabase { throw error }
            }
            return .asScheduled
        }
    }

    /// Records the database's size once a day, to show how it grows.
    package static func samplingStorage(
        _ ledger: Ledger, now: @escaping @Sendable () -> Instant
    ) -> Job {
        Job("storage", .everywhere(milliseconds: 3_600_000), urgency: .patient) {
            _ throws(Fault) in
            let last = try ledger.lastDone(storageName)
            if let last, last.ago < shortestSample { return .asScheduled }
            let kept = last.flatMap { try? JSON.read($0.says) }?["samples"]?.array ?? []
            let sample: JSON = [
                "at": .integer(now().milliseconds), "bytes": .integer(try ledger.storageBytes()),
            ]
            let samples = kept.suffix(sampleLimit - 1) + [sample]
            try ledger.note(
                done: storageName, says: (["samples": .array(Array(samples))] as JSON).text)
            return .asScheduled
        }
    }
}

private let storageName = "storage"
private let shortestSample: Int64 = 86_400_000
/// The number of stored samples, enough to show the growth over a month.
private let sampleLimit = 32
