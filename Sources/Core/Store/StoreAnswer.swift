/// What a store answered: what it signed, and what it merely said.
package struct StoreAnswer: Sendable {
    /// The environment that answered.
    package let environment: Environment
    /// To be proven like any other evidence; a renewal info stands behind its transaction.
    package var evidence: [RawEvidence] = []
    package var remark = StoreRemark.nothing
    /// What names the next page; `nil` behind the last one.
    package var next: String?
    /// Names the place up to which a history was read, so that what changes later can be asked for.
    package var revision: String?
    /// How much was received.
    package var byteCount = 0

    package init(environment: Environment) {
        self.environment = environment
    }
}

/// What a store says without signing it: for people, and for nothing that gives access.
package enum StoreRemark: Hashable, Sendable {
    case nothing
    case statuses([StandingTold])
    case order(isFound: Bool)
    case testSent(token: String)
    /// How the store fared with one or more notifications, in the order of the evidence.
    case attempts([[SendAttempt]])
    case extended(until: Instant?)
    case extendingAll(request: String)
    case extendedAll(isComplete: Bool, succeeded: Int64, failed: Int64)
}

/// The store's own word for how a subscription stands.
package struct StandingTold: Hashable, Sendable {
    package let original: String
    package let number: Int64

    package init(original: String, number: Int64) {
        self.original = original
        self.number = number
    }

    package var text: String {
        switch number {
        case 1: "active"
        case 2: "expired"
        case 3: "billing_retry"
        case 4: "grace"
        case 5: "revoked"
        default: "status_\(number)"
        }
    }
}

/// One try of the store to deliver a notification.
package struct SendAttempt: Hashable, Sendable {
    package static let success = "SUCCESS"

    package let at: Instant?
    /// In the store's own words.
    package let result: String

    package init(at: Instant?, result: String) {
        self.at = at
        self.result = result
    }
}

/// An app as the store knows it, and whose it is here.
package struct StoreApp: Hashable, Sendable {
    package let project: ProjectID
    package let key: AppKey

    package init(project: ProjectID, key: AppKey) {
        self.project = project
        self.key = key
    }
}
