package import Auditing
package import Core

/// Counts and empties what the database holds of a customer.
package protocol ErasureLog: Sendable {
    /// Erasures of a project or of one customer, after a position, oldest first.
    func erasures(
        in project: ProjectID, of customer: CustomerID?, after last: RecordedEvent?, limit: Int
    ) throws(Fault) -> [RecordedEvent]
    /// What is kept of a customer. With a version, only events before it count.
    func kept(of stream: Stream, before version: Int64?) throws(Fault) -> KeptCounts
    /// Empties what an erasure left of a customer. May be repeated.
    func empty(_ stream: Stream) throws(Fault)
    /// Erased customers of whom something is still left.
    func unemptied(limit: Int) throws(Fault) -> [Stream]
    /// Digests of the evidence about a customer.
    func evidence(of stream: Stream) throws(Fault) -> [[UInt8]]
    func filed(_ digests: [[UInt8]]) throws(Fault) -> [FiledEvidence]
    /// A customer's queued items with their evidence.
    func queued(of stream: Stream) throws(Fault) -> [TakenIntake]
}
