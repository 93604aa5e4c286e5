package import Core

/// The external dependencies of the use cases. One place wires them together, and tests provide
/// their own. Each use case takes only the parts that it uses.
package struct Ports: Sendable {
    package var ledger: any EventLog
    package var directory: any Directory
    package var accounts: any StoreAccounts
    package var grants: any GrantListing
    package var finding: any Finding
    package var figures: any FigureReading
    package var reading: any CustomerReading
    package var notes: any NoteReading
    package var keyUsing: any KeyUsing
    package var trail: any TrailKeeping
    package var erasures: any ErasureLog
    package var naming: any EvidenceNaming
    package var people: any PeopleKeeping
    package var passwords: any PasswordKeeping
    package var sessions: any SessionKeeping
    package var factors: any SecondFactorKeeping
    package var sealing: any SecondFactorSealing
    package var evidence: EvidenceReading
    package var credentials: any CredentialKeeper
    package var secrets: Secrets
    package var now: @Sendable () -> Instant
    /// The machine's clock, for measuring real durations even if a test changes `now`.
    package var machineClock: @Sendable () -> Instant

    package init(
        _ ledger: some EventLog & Directory & StoreAccounts & GrantListing & Finding
            & FigureReading & CustomerReading & NoteReading & KeyUsing & TrailKeeping & ErasureLog
            & EvidenceNaming & PeopleKeeping & PasswordKeeping & SessionKeeping
            & SecondFactorKeeping,
        evidence: EvidenceReading, credentials: any CredentialKeeper,
        sealing: any SecondFactorSealing, secrets: Secrets,
        now: @escaping @Sendable () -> Instant,
        machineClock: (@Sendable () -> Instant)? = nil
    ) {
        self.ledger = ledger
        directory = ledger
        accounts = ledger
        grants = ledger
        finding = ledger
        figures = ledger
        reading = ledger
        notes = ledger
        keyUsing = ledger
        trail = ledger
        erasures = ledger
        naming = ledger
        people = ledger
        passwords = ledger
        sessions = ledger
        factors = ledger
        self.sealing = sealing
        self.evidence = evidence
        self.credentials = credentials
        self.secrets = secrets
        self.now = now
        self.machineClock = machineClock ?? now
    }
}

/// Randomness, digests and password hashing.
package struct Secrets: Sendable {
    package var randomBytes: @Sendable (_ count: Int) -> [UInt8]
    /// Computes SHA-256.
    package var digest: @Sendable ([UInt8]) -> [UInt8]
    /// Computes the 32-byte scrypt hash of a password and a salt. The cost makes this deliberately
    /// slow. Returns `nil` if there is not enough memory.
    package var stretch: @Sendable (_ password: [UInt8], _ salt: [UInt8], _ cost: Int) -> [UInt8]?

    package init(
        randomBytes: @escaping @Sendable (_ count: Int) -> [UInt8],
        digest: @escaping @Sendable ([UInt8]) -> [UInt8],
        stretch:
            @escaping @Sendable (_ password: [UInt8], _ salt: [UInt8], _ cost: Int) -> [UInt8]?
    ) {
        self.randomBytes = randomBytes
        self.digest = digest
        self.stretch = stretch
    }
}
