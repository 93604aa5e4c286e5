package import Core
package import Threading

/// Distinguishes a store's genuine evidence from other data.
package protocol EvidenceProver: Sendable {
    /// What the evidence states, once it is proven to come from the store and to be for one of the
    /// apps. Previously accepted bytes cost only a lookup.
    func prove(
        _ raw: RawEvidence, for apps: [TrustedApp], now: Instant
    ) throws(RefusedEvidence) -> ProvenEvidence
    /// What already accepted evidence states. The store was asked about these bytes.
    func read(
        vouchedFor raw: RawEvidence, for apps: [TrustedApp], now: Instant
    ) throws(RefusedEvidence) -> ProvenEvidence
    /// The evidence without its wrapping for transport.
    func bare(_ raw: RawEvidence) throws(RefusedEvidence) -> RawEvidence
    /// What the evidence says about itself, proven or not. This shows whom to ask about it.
    func heading(of raw: RawEvidence) throws(RefusedEvidence) -> EvidenceHeading
    /// The cost of finding out whether unwrapped evidence is genuine.
    func standing(ofSigner raw: RawEvidence) -> SignerStanding
}

/// The statements about evidence that the store's answers prove, oldest first.
package typealias StoreVerdict = Judgement<[ProvenEvidence], Postponement>

/// Asks a store.
package protocol StoreClient: Sendable {
    /// Obtains the store's verdict on evidence that only the store can judge. It answers, or gives up,
    /// within this many milliseconds. If there is no limit, it does so well before a lease ends.
    func judging(_ inquiry: StoreInquiry, within milliseconds: Int64?) -> Course<StoreVerdict>
    /// One page of the store's answer. Without an environment, the one that knows the transaction answers.
    func ask(
        _ call: StoreCall, about app: StoreApp, in environment: Environment?
    ) throws(StoreTrouble) -> StoreAnswer
}

/// One store as the use cases see it: what it can do, its prover, and its client.
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
    /// The actor for the store's own notifications.
    var actor: Actor { Actor(prefix: "store:", random: rawValue) }
}

extension Intake {
    /// The adapters of every store that this release knows.
    package var adapters: [StoreAdapter] {
        stores.values.sorted { $0.profile.store.rawValue < $1.profile.store.rawValue }
    }

    /// Why evidence is refused if the project does not have its app.
    func foreign(_ app: AppID, of store: Store) -> RefusedEvidence {
        stores[store]?.profile.foreign(app) ?? .ofUnknownStore
    }

    /// The kind with that name; `nil` if this release does not know it.
    func kind(named word: String) -> EvidenceKind? {
        stores.values.lazy.flatMap(\.profile.kinds).first { $0.word == word }
    }

    private func prover(of kind: EvidenceKind) throws(RefusedEvidence) -> any EvidenceProver {
        guard let adapter = stores[kind.store] else { throw .ofUnknownStore }
        return adapter.prover
    }

    /// What evidence states, once it is proven to come from a store and to be for one of the apps.
    func prove(
        _ raw: RawEvidence, for apps: [TrustedApp]
    ) throws(RefusedEvidence) -> ProvenEvidence {
        try timely(prover(of: raw.kind).prove(raw, for: apps, now: evidenceClock))
    }

    /// The statements of evidence that the store vouches for.
    package func read(
        vouchedFor raw: RawEvidence, for app: TrustedApp
    ) throws(RefusedEvidence) -> ProvenEvidence {
        try timely(
            prover(of: raw.kind).read(vouchedFor: raw, for: [app], now: evidenceClock))
    }

    /// Production evidence counts only without a test clock.
    private func timely(_ proven: ProvenEvidence) throws(RefusedEvidence) -> ProvenEvidence {
        if proven.environment == .sandbox || takesProduction { return proven }
        throw .productionOnTestClock
    }

    /// The evidence without its wrapping for transport.
    func bare(_ raw: RawEvidence) throws(RefusedEvidence) -> RawEvidence {
        try prover(of: raw.kind).bare(raw)
    }

    /// What the evidence says about itself, proven or not.
    package func heading(of raw: RawEvidence) throws(RefusedEvidence) -> EvidenceHeading {
        try prover(of: raw.kind).heading(of: raw)
    }

    /// The cost of finding out whether unwrapped evidence is genuine.
    func standing(of raw: RawEvidence) -> SignerStanding {
        stores[raw.kind.store]?.prover.standing(ofSigner: raw) ?? .missing
    }

    /// Obtains the store's verdict on evidence that only the store can judge.
    func judging(
        _ inquiry: StoreInquiry, within milliseconds: Int64? = nil
    ) -> Course<StoreVerdict> {
        guard let client = stores[inquiry.app.key.store]?.client else {
            return .ended(.refused(.ofUnknownStore))
        }
        return client.judging(inquiry, within: milliseconds).map { timely($0) }
    }

    /// The verdict. A verdict on production evidence counts only without a test clock.
    private func timely(_ verdict: StoreVerdict) -> StoreVerdict {
        let isOfProduction = verdict.belief?.contains { $0.environment == .production } ?? false
        return isOfProduction && !takesProduction ? .refused(.productionOnTestClock) : verdict
    }

    /// One page of the store's answer.
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
