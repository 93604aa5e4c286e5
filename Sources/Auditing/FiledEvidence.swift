package import Core

/// Evidence as stored in its table, perhaps damaged.
package struct FiledEvidence: Sendable {
    /// The stored verdict for valid evidence.
    package static let believed = "believed"

    package let digest: [UInt8]
    package let project: String
    package let environment: String
    package let kind: String
    package let app: String?
    package let signedAt: Instant
    package let firstSeenAt: Instant
    package let verdict: String
    /// `nil` if only the digest is stored.
    package let content: [UInt8]?
    /// The certificates in the order in which they are restored to the evidence. A missing certificate is empty.
    package let certificates: [[UInt8]]
    /// Whether the columns still contain the values that were written.
    package let isSealed: Bool

    package init(
        digest: [UInt8], project: String, environment: String, kind: String, app: String?,
        signedAt: Instant, firstSeenAt: Instant, verdict: String, content: [UInt8]?,
        certificates: [[UInt8]], isSealed: Bool
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

/// An event that is based on evidence.
package struct RestingEvent: Sendable {
    package let position: Position
    package let project: String
    package let environment: String
    package let type: String
    /// The digest of the evidence that the event names; `nil` if the event should name evidence but
    /// does not.
    package let digest: [UInt8]?
    /// The facts that the evidence must state for the event to be true.
    package let facts: Facts

    package init(
        position: Position, project: String, environment: String, type: String,
        digest: [UInt8]?, facts: Facts
    ) {
        self.position = position
        self.project = project
        self.environment = environment
        self.type = type
        self.digest = digest
        self.facts = facts
    }
}

/// What a fact is about.
package enum FactSubject: Hashable, Sendable {
    case transaction(AppID, TransactionID)
    case renewal(AppID, PurchaseID)
    case installation(AppID)
    case refund(AppID, TransactionID)
    case consent(AppID, AppTransactionID)
}

extension Facts {
    /// The subjects of all facts.
    package var subjects: Set<FactSubject> {
        var subjects = Set(transactions.map { FactSubject.transaction($0.app, $0.transaction) })
        subjects.formUnion(renewals.map { .renewal($0.app, $0.purchase) })
        subjects.formUnion(apps.map { .installation($0.app) })
        subjects.formUnion(refunds.map { .refund($0.app, $0.transaction) })
        subjects.formUnion(consents.map { .consent($0.app, $0.appTransaction) })
        return subjects
    }

    /// Returns whether evidence that states these facts fully accounts for an event, regardless of the form of the
    /// evidence.
    package func explain(_ event: Facts) -> Bool {
        let (told, stated) = (event.unranked, unranked)
        return told.transactions.allSatisfy(stated.transactions.contains)
            && told.renewals.allSatisfy(stated.renewals.contains)
            && told.apps.allSatisfy(stated.apps.contains)
            && told.refunds.allSatisfy(stated.refunds.contains)
            && told.consents.allSatisfy(stated.consents.contains)
    }

    private var unranked: Facts {
        var facts = self
        for index in facts.transactions.indices { facts.transactions[index].rank = .offlineReceipt }
        for index in facts.renewals.indices { facts.renewals[index].rank = .offlineReceipt }
        for index in facts.apps.indices { facts.apps[index].rank = .offlineReceipt }
        for index in facts.refunds.indices { facts.refunds[index].rank = .offlineReceipt }
        for index in facts.consents.indices { facts.consents[index].rank = .offlineReceipt }
        return facts
    }
}

extension Event {
    /// The facts that evidence must have stated for the event to have happened.
    package var facts: Facts {
        var facts = Facts()
        switch fact {
        case .transaction(let fact): facts.transactions = [fact]
        case .renewal(let fact): facts.renewals = [fact]
        case .app(let fact): facts.apps = [fact]
        case .refund(let fact): facts.refunds = [fact]
        case .consent(let fact): facts.consents = [fact]
        case nil: break
        }
        return facts
    }
}

/// The result of verifying stored evidence again, from its stored form alone.
package enum EvidenceProof: Sendable {
    case proven(ProvenAgain)
    /// Only the digest is stored, so there is nothing to verify.
    case digestOnly
    /// The stored form differs from the evidence that was accepted.
    case damaged
    case refused(sentence: String)
}

/// What the evidence states when it is verified again.
package struct ProvenAgain: Sendable {
    package let kind: EvidenceKind
    package let app: AppID?
    package let environment: Environment
    package let signedAt: Instant
    package let facts: Facts

    package init(
        kind: EvidenceKind, app: AppID?, environment: Environment, signedAt: Instant, facts: Facts
    ) {
        self.kind = kind
        self.app = app
        self.environment = environment
        self.signedAt = signedAt
        self.facts = facts
    }
}
