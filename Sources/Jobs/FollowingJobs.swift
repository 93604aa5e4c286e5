import Core
package import Ledger

extension Job {
    /// Passes every event in the log to a durable reader. Only one instance at a time does this. After a crash, some
    /// events may be passed on twice.
    package static func following(
        _ reader: DurableReader, of ledger: Ledger, _ take: @escaping DurableReader.Taking
    ) -> Job {
        Job(reader.name, .alone(milliseconds: 500)) { run throws(Fault) in
            guard let lease = run.lease else { return .asScheduled }
            while run.goesOn, try ledger.read(by: reader, under: lease, take) {}
            return .asScheduled
        }
    }
}
