package import Core

/// The dependencies of the use cases on the log; taking evidence in has its own (`Intake`). They are wired
/// in one place, and tests bring their own.
package struct Ports: Sendable {
    package var ledger: any EventLog
    package var directory: any Directory
    package var accounts: any StoreAccounts
    package var grants: any GrantListing
    package var finding: any Finding
    package var reading: any CustomerReading
    package var notes: any NoteReading
    package var erasures: any ErasureLog
    package var evidenceText: EvidenceText
    package var credentials: any CredentialKeeper
    package var secrets: Secrets
    package var now: @Sendable () -> Instant
    /// The machine's clock: for real durations, even when a test moves `now`.
    package var machineClock: @Sendable () -> Instant

    package init(
        _ ledger: some EventLog & Directory & StoreAccounts & GrantListing & Finding
            & CustomerReading & NoteReading & ErasureLog,
        evidenceText: EvidenceText, credentials: any CredentialKeeper, secrets: Secrets,
        now: @escaping @Sendable () -> Instant,
        machineClock: (@Sendable () -> Instant)? = nil
    ) {
        self.ledger = ledger
        directory = ledger
        accounts = ledger
        grants = ledger
        finding = ledger
        reading = ledger
        notes = ledger
        erasures = ledger
        self.evidenceText = evidenceText
        self.credentials = credentials
        self.secrets = secrets
        self.now = now
        self.machineClock = machineClock ?? now
    }

    /// The latest time at which evidence may have been signed: a store's clock is near the machine's,
    /// or near a test's that runs ahead of it.
    package var evidenceClock: Instant { max(now(), machineClock()) }
}

/// Randomness and digests.
package struct Secrets: Sendable {
    package var randomBytes: @Sendable (_ count: Int) -> [UInt8]
    /// SHA-256.
    package var digest: @Sendable ([UInt8]) -> [UInt8]

    package init(
        randomBytes: @escaping @Sendable (_ count: Int) -> [UInt8],
        digest: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.randomBytes = randomBytes
        self.digest = digest
    }
}
