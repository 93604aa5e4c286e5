package import Auditing
package import Core

/// What the database knows of a customer, and how that is emptied.
package protocol ErasureLog: Sendable {
    /// Some erasures of a project, or of one customer, after one of them, oldest first.
    func erasures(
        in project: ProjectID, of customer: CustomerID?, after last: RecordedEvent?, limit: Int
    ) throws(Fault) -> [RecordedEvent]
    /// What is kept of a customer; of events only those before a version, if one is given.
    func kept(of stream: Stream, before version: Int64?) throws(Fault) -> KeptCounts
    /// Empties what an erasure has left of a customer. May be repeated.
    func empty(_ stream: Stream) throws(Fault)
    /// Some erased customers of whom something is not emptied yet.
    func unemptied(limit: Int) throws(Fault) -> [Stream]
    /// The digests of the evidence that tells of a customer.
    func evidence(of stream: Stream) throws(Fault) -> [[UInt8]]
    /// Evidence by its digests.
    func filed(_ digests: [[UInt8]]) throws(Fault) -> [FiledEvidence]
    /// A customer's items in the queue, each with its evidence.
    func queued(of stream: Stream) throws(Fault) -> [TakenIntake]
}
