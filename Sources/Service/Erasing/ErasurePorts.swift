package import Auditing
package import Core

/// Counts and removes the data that the database contains about a customer.
package protocol ErasureLog: Sendable {
    /// Returns the erasures of a project or of one customer after a position, oldest first.
    func erasures(
        in project: ProjectID, of customer: CustomerID?, after last: RecordedEvent?, limit: Int
    ) throws(Fault) -> [RecordedEvent]
    /// Returns the data stored about a customer. If a version is given, only events before it count.
    func kept(of stream: Stream, before version: Int64?) throws(Fault) -> KeptCounts
    /// Removes the data that remains about a customer after an erasure. May be called again.
    func empty(_ stream: Stream) throws(Fault)
    /// Returns erased customers with data that has not been removed yet.
    func unemptied(limit: Int) throws(Fault) -> [Stream]
    /// Returns the digests of the evidence about a customer.
    func evidence(of stream: Stream) throws(Fault) -> [[UInt8]]
    func filed(_ digests: [[UInt8]]) throws(Fault) -> [FiledEvidence]
    /// Returns a customer's queued items, with their evidence.
    func queued(of stream: Stream) throws(Fault) -> [TakenIntake]
}
