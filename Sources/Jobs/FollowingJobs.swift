import Core
package import Ledger

extension Job {
    /// Hands on all that happens to the log, on one instance at a time. What was handed on may come again
    /// after a crash.
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
