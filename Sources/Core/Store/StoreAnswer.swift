/// What a store answered: what counts, and what it merely said.
package struct StoreAnswer: Sendable {
    /// The environment that answered.
    package let environment: Environment
    /// To be proven like any other evidence; what names no app stands behind its transaction.
    package var evidence: [RawEvidence] = []
    /// What is not signed, and counts because its client fetched it from the store.
    package var vouched: [ProvenEvidence] = []
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
    case standings([StandingTold])
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
    /// The purchase, with the store's name in front.
    package let purchase: String
    package let text: String

    package init(purchase: String, text: String) {
        self.purchase = purchase
        self.text = text
    }
}

/// One try of the store to deliver a notification.
package struct SendAttempt: Hashable, Sendable {
    package let at: Instant?
    /// In the store's own words.
    package let result: String
    package let hasArrived: Bool

    package init(at: Instant?, result: String, hasArrived: Bool) {
        self.at = at
        self.result = result
        self.hasArrived = hasArrived
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
