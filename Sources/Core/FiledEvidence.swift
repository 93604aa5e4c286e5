/// Evidence as it was found again where it is kept, whatever was done to it.
package struct FiledEvidence: Sendable {
    /// The verdict on evidence that counts.
    package static let believed = "believed"

    package let digest: [UInt8]
    package let project: String
    package let environment: String
    package let kind: String
    package let app: String?
    package let signedAt: Instant
    package let firstSeenAt: Instant
    package let verdict: String
    /// `nil` where no more than the digest is kept.
    package let content: [UInt8]?
    /// In the order in which they go back; one that is missing is empty.
    package let certificates: [[UInt8]]
    /// Whether the columns are those that were written; `nil` where that was not noted yet.
    package let isSealed: Bool?

    package init(
        digest: [UInt8], project: String, environment: String, kind: String, app: String?,
        signedAt: Instant, firstSeenAt: Instant, verdict: String, content: [UInt8]?,
        certificates: [[UInt8]], isSealed: Bool?
    ) {
        self.digest = digest
        self.project = project
        self.environment = environment
        self.kind = kind
        self.app = app
        self.signedAt = signedAt
        self.firstSeenAt = firstSeenAt
        self.verdict = verdict
        self.content = content
        self.certificates = certificates
        self.isSealed = isSealed
    }
}

/// What an event says of the evidence on which it rests.
package struct EvidenceClaim: Hashable, Sendable {
    package let position: Position
    package let project: String
    package let environment: String
    package let type: String
    /// The digest of the evidence. Events of before name none when they came with a key.
    package let digest: [UInt8]?
    /// What the evidence must state for the event to be true.
    package let facts: [StatedFact]

    package init(
        position: Position, project: String, environment: String, type: String,
        digest: [UInt8]?, facts: [StatedFact]
    ) {
        self.position = position
        self.project = project
        self.environment = environment
        self.type = type
        self.digest = digest
        self.facts = facts
    }
}

/// Something that evidence states, by what it is about.
package enum StatedFact: Hashable, Sendable {
    case transaction(AppID, TransactionID)
    case renewal(AppID, PurchaseID)
    case installation(AppID)
}

extension Facts {
    package var stated: Set<StatedFact> {
        var stated = Set(transactions.map { StatedFact.transaction($0.app, $0.transaction) })
        stated.formUnion(renewals.map { .renewal($0.app, $0.purchase) })
        stated.formUnion(apps.map { .installation($0.app) })
        return stated
    }
}

extension Event {
    /// The types of those that tell what evidence states, as `stated` says.
    package static let typesOfStatedFacts = [
        "purchase.made", "subscription.renewed", "subscription.upgraded", "subscription.extended",
        "purchase.refunded", "purchase.revoked", "refund.reversed", "purchase.restated",
        "renewal.changed", "renewal.restated", "app.installed",
    ]

    /// What evidence must have stated for this to have happened.
    package var stated: [StatedFact] {
        switch self {
        case .purchaseMade(let fact), .subscriptionRenewed(let fact),
            .subscriptionUpgraded(let fact), .subscriptionExtended(let fact),
            .purchaseRefunded(let fact), .purchaseRevoked(let fact), .refundReversed(let fact),
            .purchaseRestated(let fact):
            [.transaction(fact.app, fact.transaction)]
        case .renewalChanged(let fact), .renewalRestated(let fact):
            [.renewal(fact.app, fact.purchase)]
        case .appInstalled(let fact): [.installation(fact.app)]
        default: []
        }
    }
}

/// What came of proving kept evidence again, from nothing but what is kept of it.
package enum EvidenceProof: Sendable {
    case proven(ProvenAgain)
    /// No more than its digest is kept: there is nothing to prove.
    case digestOnly
    /// What is kept is not what was believed.
    case damaged
    case refused(sentence: String)
}

/// What evidence states that was proven again.
package struct ProvenAgain: Sendable {
    package let app: AppID?
    package let environment: Environment
    package let signedAt: Instant
    package let stated: Set<StatedFact>

    package init(
        app: AppID?, environment: Environment, signedAt: Instant, stated: Set<StatedFact>
    ) {
        self.app = app
        self.environment = environment
        self.signedAt = signedAt
        self.stated = stated
    }
}
