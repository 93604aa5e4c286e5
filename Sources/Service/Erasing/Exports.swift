package import Auditing
package import Core

/// All data stored about a customer, read piece by piece.
package struct Exports: Sendable {
    private static let eventPage = 500
    private static let evidencePage = 20

    package let customers: Customers
    let log: any ErasureLog
    package let reading: EvidenceReading
    package let now: @Sendable () -> Instant

    /// Throws unless the customer is known in at least one of the environments.
    package func requireKnown(
        _ customer: CustomerID, in project: ProjectID
    ) throws(CommandError) {
        for environment in Environment.allCases {
            let stream = Stream(project: project, environment: environment, customer: customer)
            if try obtain(customers.ledger.customer(of: stream)).customer.version > 0 { return }
        }
        throw .refused(.customerUnknown(customer))
    }

    /// Returns the answer that a read would give now.
    package func answer(_ stream: Stream) throws(CommandError) -> CustomerAnswer {
        try obtain(customers.customer(stream, at: nil, known: nil))
    }

    package func events(
        _ stream: Stream, _ take: (LogEntry) throws(CommandError) -> Void
    ) throws(CommandError) {
        var version: Int64 = 0
        while true {
            let page = try obtain(
                customers.ledger.events(of: stream, after: version, limit: Exports.eventPage))
            for entry in page { try take(entry) }
            guard let last = page.last else { return }
            version = last.recorded.version
        }
    }

    /// Returns the streams in which the customer's purchases waited for a claim.
    package func keepers(of stream: Stream) throws(CommandError) -> [Stream] {
        let state = try obtain(customers.ledger.customer(of: stream)).customer
        return ErasedLife(stream, state).keeperStreams
    }

    package func evidence(
        _ streams: [Stream], _ take: (ExportedEvidence) throws(CommandError) -> Void
    ) throws(CommandError) {
        let digests = try self.digests(streams)
        for start in stride(from: 0, to: digests.count, by: Exports.evidencePage) {
            let page = digests[start..<min(start + Exports.evidencePage, digests.count)]
            for filed in try obtain(log.filed(Array(page))) {
                try take(ExportedEvidence(filed, reading))
            }
        }
    }

    /// Returns the digests of the evidence about the streams, in order.
    func digests(_ streams: [Stream]) throws(CommandError) -> [[UInt8]] {
        var digests: Set<[UInt8]> = []
        for stream in streams { digests.formUnion(try obtain(log.evidence(of: stream))) }
        return digests.sorted { $0.lexicographicallyPrecedes($1) }
    }

    package func queued(_ stream: Stream) throws(CommandError) -> [TakenIntake] {
        try obtain(log.queued(of: stream))
    }
}

/// A piece of evidence in text form.
package struct ExportedEvidence: Sendable {
    package let digest: [UInt8]
    package let kind: String
    package let app: String?
    package let environment: String
    package let signedAt: Instant
    package let recordedAt: Instant
    /// The content in base64.
    package let content: String?

    fileprivate init(_ filed: FiledEvidence, _ reading: EvidenceReading) {
        (digest, kind, app) = (filed.digest, filed.kind, filed.app)
        environment = filed.environment
        (signedAt, recordedAt) = (filed.signedAt, filed.firstSeenAt)
        content = reading.unpack(filed).map(reading.base64)
    }
}

/// Reads stored evidence.
package struct EvidenceReading: Sendable {
    /// Returns the bytes that a store signed; `nil` if only their digest is stored.
    package let unpack: @Sendable (FiledEvidence) -> [UInt8]?
    package let base64: @Sendable ([UInt8]) -> String
    /// Proves evidence again from its stored form, with the current roots.
    package let prove: @Sendable (FiledEvidence) -> EvidenceProof

    package init(
        unpack: @escaping @Sendable (FiledEvidence) -> [UInt8]?,
        base64: @escaping @Sendable ([UInt8]) -> String,
        prove: @escaping @Sendable (FiledEvidence) -> EvidenceProof
    ) {
        self.unpack = unpack
        self.base64 = base64
        self.prove = prove
    }
}
