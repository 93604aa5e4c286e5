package import Core

/// Who can tell a store's genuine evidence from any other.
package protocol EvidenceProver: Sendable {
    /// What the evidence states, once it is proven to be the store's and of one of the apps. Bytes that
    /// were believed before cost a look-up.
    func prove(
        _ raw: RawEvidence, for apps: [TrustedApp], now: Instant
    ) throws(RefusedEvidence) -> ProvenEvidence
    /// What evidence states that is known to be believed: the store was asked about these bytes.
    func read(
        vouchedFor raw: RawEvidence, for apps: [TrustedApp], now: Instant
    ) throws(RefusedEvidence) -> ProvenEvidence
    /// The evidence without what it was wrapped in for the way.
    func bare(_ raw: RawEvidence) throws(RefusedEvidence) -> RawEvidence
    /// What the evidence says of itself, proven or not: whom to ask about it.
    func heading(of raw: RawEvidence) throws(RefusedEvidence) -> EvidenceHeading
    /// What it will cost to tell whether bare evidence is genuine.
    func standing(ofSigner raw: RawEvidence) -> SignerStanding
}

/// Who can ask a store.
package protocol StoreClient: Sendable {
    /// What the store says of evidence that only it can judge. It answers, or gives up, well before a lease ends.
    func judge(_ inquiry: StoreInquiry) -> Judgement<ProvenEvidence, Postponement>
    /// One page of what the store answers. Without an environment, of the one that knows the transaction.
    func ask(
        _ call: StoreCall, about app: StoreApp, in environment: Environment?
    ) throws(StoreTrouble) -> StoreAnswer
}

/// One store as the use cases see it: what it can do, who proves its evidence, and who asks it.
package struct StoreAdapter: Sendable {
    package let profile: any StoreProfile
    package var prover: any EvidenceProver
    package var client: any StoreClient

    package init(
        _ profile: any StoreProfile, prover: any EvidenceProver, client: any StoreClient
    ) {
        self.profile = profile
        self.prover = prover
        self.client = client
    }
}

extension Store {
    /// Who acts where it brings something by itself.
    var actor: Actor { Actor(prefix: "store:", random: rawValue) }
}

extension Intake {
    /// Of every store that this release knows.
    package var adapters: [StoreAdapter] {
        stores.values.sorted { $0.profile.store.rawValue < $1.profile.store.rawValue }
    }

    /// The kind of that name; `nil` where this release does not know it.
    func kind(named word: String) -> EvidenceKind? {
        stores.values.lazy.flatMap(\.profile.kinds).first { $0.word == word }
    }

    private func prover(of kind: EvidenceKind) throws(RefusedEvidence) -> any EvidenceProver {
        guard let adapter = stores[kind.store] else { throw .ofUnknownStore }
        return adapter.prover
    }

    /// What evidence states, once it is proven to be a store's and of one of the apps.
    func prove(
        _ raw: RawEvidence, for apps: [TrustedApp]
    ) throws(RefusedEvidence) -> ProvenEvidence {
        try timely(prover(of: raw.kind).prove(raw, for: apps, now: ports.evidenceClock))
    }

    /// What evidence states that the store vouches for.
    package func read(
        vouchedFor raw: RawEvidence, for app: TrustedApp
    ) throws(RefusedEvidence) -> ProvenEvidence {
        try timely(
            prover(of: raw.kind).read(vouchedFor: raw, for: [app], now: ports.evidenceClock))
    }

    /// Evidence of production counts only where the time is not a test's.
    private func timely(_ proven: ProvenEvidence) throws(RefusedEvidence) -> ProvenEvidence {
        if proven.environment == .sandbox || takesProduction { return proven }
        throw .productionOnTestClock
    }

    /// The evidence without what it was wrapped in for the way.
    func bare(_ raw: RawEvidence) throws(RefusedEvidence) -> RawEvidence {
        try prover(of: raw.kind).bare(raw)
    }

    /// What the evidence says of itself, proven or not.
    package func heading(of raw: RawEvidence) throws(RefusedEvidence) -> EvidenceHeading {
        try prover(of: raw.kind).heading(of: raw)
    }

    /// What it will cost to tell whether bare evidence is genuine.
    func standing(of raw: RawEvidence) -> SignerStanding {
        stores[raw.kind.store]?.prover.standing(ofSigner: raw) ?? .missing
    }

    /// What the store says of evidence that only it can judge.
    func judge(_ inquiry: StoreInquiry) -> Judgement<ProvenEvidence, Postponement> {
        stores[inquiry.app.key.store]?.client.judge(inquiry) ?? .refused(.ofUnknownStore)
    }

    /// One page of what the store answers.
    func ask(
        _ call: StoreCall, _ app: StoreApp, _ environment: Environment?
    ) throws(StoreTrouble) -> StoreAnswer {
        guard let adapter = stores[app.key.store] else {
            throw .unconfigured("This release cannot ask the store of \(app.key.id).")
        }
        return try adapter.client.ask(call, about: app, in: environment)
    }
}

extension RefusedEvidence {
    static let ofUnknownStore = RefusedEvidence(
        code: "unrecognized", sentence: "This release does not know the store.")
    fileprivate static let productionOnTestClock = RefusedEvidence(
        code: "production_on_test_clock",
        sentence: "It is from production, and this database follows a test clock: send it to a "
            + "service with another database.")
}
