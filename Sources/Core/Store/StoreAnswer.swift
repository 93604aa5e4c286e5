/// A store's answer: the evidence that it contains, and further unsigned statements.
package struct StoreAnswer: Sendable {
    /// The environment that answered.
    package let environment: Environment
    /// Evidence that must be verified like any other. Evidence that does not name an app is listed after its
    /// transaction.
    package var evidence: [RawEvidence] = []
    /// Evidence that counts because Deed's own client fetched it from the store.
    package var vouched: [ProvenEvidence] = []
    package var remark = StoreRemark.nothing
    /// The token of the next page; `nil` after the last one.
    package var next: String?
    /// The store's marker of how far a history has been read. The next request then covers only later changes.
    package var revision: String?
    /// The number of bytes received.
    package var byteCount = 0

    package init(environment: Environment) {
        self.environment = environment
    }
}

/// Unsigned statements by a store. They are for people to read and never give access.
package enum StoreRemark: Hashable, Sendable {
    case nothing
    case standings([StandingTold])
    case order(isFound: Bool)
    case testSent(token: String)
    /// The store's attempts to send notifications: one list per notification, in the order of the
    /// evidence.
    case attempts([[SendAttempt]])
    case extended(until: Instant?)
    case extendingAll(request: String)
    case extendedAll(isComplete: Bool, succeeded: Int64, failed: Int64)
}

/// The store's own name for a subscription's status.
package struct StandingTold: Hashable, Sendable {
    /// The purchase's id, prefixed with the store's name.
    package let purchase: String
    package let text: String

    package init(purchase: String, text: String) {
        self.purchase = purchase
        self.text = text
    }
}

/// The store's attempt to deliver a notification.
package struct SendAttempt: Hashable, Sendable {
    package let at: Instant?
    /// The result in the store's own words.
    package let result: String
    package let hasArrived: Bool

    package init(at: Instant?, result: String, hasArrived: Bool) {
        self.at = at
        self.result = result
        self.hasArrived = hasArrived
    }
}

/// An app, identified by its key at the store, and the project to which it belongs.
package struct StoreApp: Hashable, Sendable {
    package let project: ProjectID
    package let key: AppKey

    package init(project: ProjectID, key: AppKey) {
        self.project = project
        self.key = key
    }
}
