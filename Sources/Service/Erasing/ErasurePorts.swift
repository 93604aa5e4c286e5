package import Auditing
package import Core

/// Counts and empties the data that the database holds about a customer.
package protocol ErasureLog: Sendable {
    /// Erasures of a project or of one customer, after a position, oldest first.
    func erasures(
        in project: ProjectID, of customer: CustomerID?, after last: RecordedEvent?, limit: Int
    ) throws(Fault) -> [RecordedEvent]
    /// The data kept about a customer. With a version, only events before it count.
    func kept(of stream: Stream, before version: Int64?) throws(Fault) -> KeptCounts
    /// Empties the data that an erasure left about a customer. May be repeated.
    func empty(_ stream: Stream) throws(Fault)
    /// Erased customers with data that has not been emptied yet.
    func unemptied(limit: Int) throws(Fault) -> [Stream]
    /// Digests of the evidence about a customer.
    func evidence(of stream: Stream) throws(Fault) -> [[UInt8]]
    func filed(_ digests: [[UInt8]]) throws(Fault) -> [FiledEvidence]
    /// A customer's queued items with their evidence.
    func queued(of stream: Stream) throws(Fault) -> [TakenIntake]
}
