package import Core
package import Threading

/// Distinguishes a store's genuine evidence from other data.
package protocol EvidenceProver: Sendable {
    /// Returns what the evidence states, once it is verified to come from the store and to concern one of the apps.
    /// Verifying previously accepted bytes takes only a lookup.
    func prove(
        _ raw: RawEvidence, for apps: [TrustedApp], now: Instant
    ) throws(RefusedEvidence) -> ProvenEvidence
    /// Returns the statements of evidence that was accepted because the store confirmed these bytes.
    func read(
        vouchedFor raw: RawEvidence, for apps: [TrustedApp], now: Instant
    ) throws(RefusedEvidence) -> ProvenEvidence
    /// Returns the evidence without its transport wrapping.
    func bare(_ raw: RawEvidence) throws(RefusedEvidence) -> RawEvidence
    /// Returns what the evidence says about itself, verified or not. The heading shows which store to ask.
    func heading(of raw: RawEvidence) throws(RefusedEvidence) -> EvidenceHeading
    /// Returns what is known about the signer, which shows how costly verification will be.
    func standing(ofSigner raw: RawEvidence) -> SignerStanding
}

/// The verdict on evidence: the statements that the store's answers prove, oldest first.
package typealias StoreVerdict = Judgement<[ProvenEvidence], Postponement>

/// Sends requests to a store.
package protocol StoreClient: Sendable {
    /// Obtains the store's verdict on evidence that only the store can judge. The client answers,
    /// or gives up, within this many milliseconds or, without a limit, well before a lease ends.
    func judging(_ inquiry: StoreInquiry, within milliseconds: Int64?) -> Course<StoreVerdict>
    /// Returns one page of the store's answer. If no environment is given, the one that knows the transaction
    /// answers.
    func ask(
        _ call: StoreCall, about app: StoreApp, in environment: Environment?
    ) throws(StoreTrouble) -> StoreAnswer
}

/// A store as the use cases see it: its capabilities, its prover and its client.
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
    /// The adapters of all stores that this release supports.
    package var adapters: [StoreAdapter] {
        stores.values.sorted { $0.profile.store.rawValue < $1.profile.store.rawValue }
    }

    /// Returns the refusal of evidence for an app that the project does not have.
    func foreign(_ app: AppID, of store: Store) -> RefusedEvidence {
        stores[store]?.profile.foreign(app) ?? .ofUnknownStore
    }

    /// Returns the kind with that name; `nil` if this release does not know such a kind.
    func kind(named word: String) -> EvidenceKind? {
        stores.values.lazy.flatMap(\.profile.kinds).first { $0.word == word }
    }

    private func prover(of kind: EvidenceKind) throws(RefusedEvidence) -> any EvidenceProver {
        guard let adapter = stores[kind.store] else { throw .ofUnknownStore }
        return adapter.prover
    }

    /// Returns what the evidence states, once it is verified to come from a store and to concern one of the apps.
    func prove(
        _ raw: RawEvidence, for apps: [TrustedApp]
    ) throws(RefusedEvidence) -> ProvenEvidence {
        try timely(prover(of: raw.kind).prove(raw, for: apps, now: evidenceClock))
    }

    /// Returns what the evidence states if the store vouches for it.
    package func read(
        vouchedFor raw: RawEvidence, for app: TrustedApp
    ) throws(RefusedEvidence) -> ProvenEvidence {
        try timely(
            prover(of: raw.kind).read(vouchedFor: raw, for: [app], now: evidenceClock))
    }

    /// Throws if the evidence is from production and there is a test clock, under which such
    /// evidence does not count.
    private func timely(_ proven: ProvenEvidence) throws(RefusedEvidence) -> ProvenEvidence {
        if proven.environment == .sandbox || takesProduction { return proven }
        throw .productionOnTestClock
    }

    /// Returns the evidence without its transport wrapping.
    func bare(_ raw: RawEvidence) throws(RefusedEvidence) -> RawEvidence {
        try prover(of: raw.kind).bare(raw)
    }

    /// Returns what the evidence says about itself, verified or not.
    package func heading(of raw: RawEvidence) throws(RefusedEvidence) -> EvidenceHeading {
        try prover(of: raw.kind).heading(of: raw)
    }

    /// Returns what is known about the evidence's signer, which shows how costly verification will be.
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

    /// Returns the verdict. Turns it into a refusal for production evidence under a test clock.
    private func timely(_ verdict: StoreVerdict) -> StoreVerdict {
        let isOfProduction = verdict.belief?.contains { $0.environment == .production } ?? false
        return isOfProduction && !takesProduction ? .refused(.productionOnTestClock) : verdict
    }

    /// Returns one page of the store's answer.
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
        sentence:
            "The evidence is from production, but this database follows a test clock: send it to a "
            + "service with another database.")
}
