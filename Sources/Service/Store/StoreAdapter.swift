package import Core

/// One store as the use cases see it: what it signs, and what it can be asked.
package struct StoreAdapter: Sendable {
    package let store: Store
    /// What it tells by itself.
    package let news: EvidenceKind
    package let codes: StoreCodes
    package var evidence: EvidencePort
    package var asking: StorePort

    package init(
        _ store: Store, news: EvidenceKind, codes: StoreCodes, evidence: EvidencePort,
        asking: StorePort
    ) {
        self.store = store
        self.news = news
        self.codes = codes
        self.evidence = evidence
        self.asking = asking
    }
}

extension Store {
    /// Who acts where it brings something by itself.
    var actor: Actor { Actor(prefix: "store:", random: rawValue) }
}

extension Intake {
    /// Of every store that this release knows.
    package var adapters: [StoreAdapter] {
        stores.values.sorted { $0.store.rawValue < $1.store.rawValue }
    }

    private func adapter(for kind: EvidenceKind) throws(RefusedEvidence) -> StoreAdapter {
        guard let adapter = stores[kind.store] else { throw .ofUnknownStore }
        return adapter
    }

    /// What evidence states, once it is proven to be a store's and of one of the apps.
    func prove(
        _ raw: RawEvidence, for apps: [TrustedApp]
    ) throws(RefusedEvidence) -> ProvenEvidence {
        try adapter(for: raw.kind).evidence.prove(raw, apps, ports.evidenceClock)
    }

    /// What evidence states that the store vouches for.
    package func read(
        vouchedFor raw: RawEvidence, for app: TrustedApp
    ) throws(RefusedEvidence) -> ProvenEvidence {
        try adapter(for: raw.kind).evidence.readVouched(raw, [app], ports.evidenceClock)
    }

    /// The evidence without what it was wrapped in for the way.
    func bare(_ raw: RawEvidence) throws(RefusedEvidence) -> RawEvidence {
        try adapter(for: raw.kind).evidence.bare(raw)
    }

    /// What the evidence says of itself, proven or not.
    package func heading(of raw: RawEvidence) throws(RefusedEvidence) -> EvidenceHeading {
        try adapter(for: raw.kind).evidence.heading(raw)
    }

    /// What it will cost to tell whether bare evidence is genuine.
    func standing(of raw: RawEvidence) -> SignerStanding {
        stores[raw.kind.store]?.evidence.standing(raw) ?? .missing
    }

    /// What the store says of a legacy receipt.
    func judge(_ inquiry: ReceiptInquiry) -> Judgement<ProvenEvidence, Postponement> {
        stores[inquiry.app.key.store]?.asking.judge(inquiry) ?? .refused(.ofUnknownStore)
    }

    /// One page of what the store answers.
    func ask(
        _ call: StoreCall, _ app: StoreApp, _ environment: Environment?
    ) throws(StoreTrouble) -> StoreAnswer {
        guard let adapter = stores[app.key.store] else { throw .noKey(app.key.id) }
        return try adapter.asking.ask(call, app, environment)
    }
}

extension RefusedEvidence {
    fileprivate static let ofUnknownStore = RefusedEvidence(
        code: "unrecognized", sentence: "This release does not know the store.")
}
