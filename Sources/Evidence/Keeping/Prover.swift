package import Core
internal import Crypto
package import Telemetry

/// Proves evidence before it is recorded, and prepares it for storage.
///
/// Evidence that was accepted recently is recognized by its digest. Its signatures are not verified again, but the
/// terms are checked again because they may have changed.
package final class Prover: Sendable {
    private let store: any StoreEvidence
    private let believed = RecentlyBelieved(limit: 1 << 16)
    private let measures: ProofMeasures

    package init(_ store: any StoreEvidence, metrics: Metrics) {
        self.store = store
        measures = ProofMeasures(metrics, type(of: store).kinds)
    }

    /// Returns the evidence's statement. Throws unless the evidence provably comes from a store and
    /// is for one of the apps.
    package func prove(
        _ raw: RawEvidence, for apps: [TrustedApp], now: Instant
    ) throws(RefusedEvidence) -> ProvenEvidence {
        do throws(EvidenceRefusal) {
            let bare = try unwrapped(raw)
            let terms = Terms(for: raw, of: apps, now: now)
            if believed.holds(bare.digest, as: raw.kind) {
                let again = try proven(bare, store.reread(bare.bytes, as: raw.kind, on: terms))
                measures.known.add()
                return again
            }
            let statement = try store.verify(bare.bytes, as: raw.kind, on: terms)
            let proven = try proven(bare, statement)
            believed.remember(bare.digest, as: raw.kind)
            measures.believed(raw.kind)
            if !statement.unread.isEmpty { measures.unread.add() }
            return proven
        } catch {
            measures.refused(raw.kind)
            throw RefusedEvidence(error)
        }
    }

    /// Returns the statement in the store's answer.
    package func prove(
        _ answer: FetchedAnswer, for apps: [TrustedApp], now: Instant
    ) throws(RefusedEvidence) -> ProvenEvidence {
        do throws(EvidenceRefusal) {
            let terms = Terms(apps: apps, now: now, rank: .verifyReceiptReply)
            let statement = try store.verify(answer, on: terms)
            measures.believed(answer.kind)
            if !statement.unread.isEmpty { measures.unread.add() }
            return try proven(
                unwrapped(RawEvidence(answer.kind, answer.body)), statement)
        } catch {
            measures.refused(answer.kind)
            throw RefusedEvidence(error)
        }
    }

    /// Returns the statement in evidence that the store confirmed when Deed asked.
    package func read(
        vouchedFor raw: RawEvidence, for apps: [TrustedApp], now: Instant
    ) throws(RefusedEvidence) -> ProvenEvidence {
        try rethrowing(as: RefusedEvidence.init) { () throws(EvidenceRefusal) in
            let bare = try unwrapped(raw)
            let terms = Terms(for: raw, of: apps, now: now)
            return try proven(bare, store.reread(bare.bytes, as: raw.kind, on: terms))
        }
    }

    /// Returns the evidence without its transport wrapping, so that no later step has to unwrap and hash it again.
    package func bare(_ raw: RawEvidence) throws(RefusedEvidence) -> RawEvidence {
        try rethrowing(as: RefusedEvidence.init) { () throws(EvidenceRefusal) in
            let bare = try unwrapped(raw)
            var unwrapped = RawEvidence(
                raw.kind, bare.bytes, rank: raw.rank, digest: bare.digest.bytes)
            unwrapped.companion = raw.companion
            return unwrapped
        }
    }

    /// Returns what the evidence says about itself, proven or not.
    package func heading(of raw: RawEvidence) throws(RefusedEvidence) -> EvidenceHeading {
        try rethrowing(as: RefusedEvidence.init) { () throws(EvidenceRefusal) in
            let bare = try unwrapped(raw)
            let heading = try type(of: store).heading(of: bare.bytes, as: raw.kind)
            guard let app = heading.app else { throw .invalidMember("bundleId") }
            return EvidenceHeading(
                digest: bare.digest.bytes, kind: raw.kind.word, environment: heading.environment,
                app: app)
        }
    }

    /// Returns what is known about the signer of unwrapped evidence before it is proven.
    package func standing(ofSigner raw: RawEvidence) -> SignerStanding {
        store.standing(ofSigner: raw.bytes)
    }

    private func unwrapped(_ raw: RawEvidence) throws(EvidenceRefusal) -> BareEvidence {
        if raw.bytes.count > RawEvidence.byteLimit { throw .tooLarge(limit: RawEvidence.byteLimit) }
        if let digest = raw.digest.flatMap({ Digest32(bytes: $0) }) {
            return BareEvidence(bytes: raw.bytes, digest: digest)
        }
        let bytes = try type(of: store).bare(raw.bytes, as: raw.kind)
        return BareEvidence(bytes: bytes, digest: SHA256.digest(bytes))
    }

    private func proven(
        _ bare: BareEvidence, _ statement: StoreStatement<Verified>
    ) throws(EvidenceRefusal) -> ProvenEvidence {
        guard let app = statement.app else { throw .invalidMember("bundleId") }
        let packed = store.pack(bare.bytes, as: statement.kind)
        return ProvenEvidence(
            kind: statement.kind, environment: statement.environment, app: app,
            facts: statement.facts, notification: statement.notification,
            record: EvidenceRecord(
                digest: bare.digest.bytes, kind: statement.kind.word, app: app,
                signedAt: statement.signedAt, content: packed.content,
                certificates: packed.certificates,
                isKeptAlways: statement.kind.content == .news))
    }
}

extension Terms {
    fileprivate init(for raw: RawEvidence, of apps: [TrustedApp], now: Instant) {
        self.init(apps: apps, now: now, rank: raw.rank)
        companion = raw.companion
    }
}

/// Evidence without its transport wrapping. The result is the same for a receipt in base64 and in binary, and for all
/// JSON forms of a notification.
private struct BareEvidence {
    let bytes: [UInt8]
    let digest: Digest32
}

extension RefusedEvidence {
    init(_ refusal: EvidenceRefusal) {
        self.init(code: refusal.code, sentence: refusal.description, cure: refusal.cure)
    }
}

/// Metrics about how evidence is proven.
private struct ProofMeasures: Sendable {
    let known: Counter
    let unread: Counter
    private let outcomes: [EvidenceKind: (believed: Counter, refused: Counter)]

    init(_ metrics: Metrics, _ kinds: [EvidenceKind]) {
        known = metrics.counter(
            "deed_evidence_known_total", "Evidence that Deed had already believed.")
        unread = metrics.counter(
            "deed_evidence_unread_total",
            "Believed evidence with a part or a state that this release cannot read.")
        var outcomes: [EvidenceKind: (believed: Counter, refused: Counter)] = [:]
        for kind in kinds {
            let counter = { (outcome: String) in
                metrics.counter(
                    "deed_evidence_verifications_total", "Evidence that was verified.",
                    labels: [("kind", kind.word), ("outcome", outcome)])
            }
            outcomes[kind] = (counter("believed"), counter("refused"))
        }
        self.outcomes = outcomes
    }

    func believed(_ kind: EvidenceKind) { outcomes[kind]?.believed.add() }
    func refused(_ kind: EvidenceKind) { outcomes[kind]?.refused.add() }
}
