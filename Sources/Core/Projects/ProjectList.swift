/// A project as shown in the list of projects.
package struct ListedProject: Hashable, Sendable {
    package let project: ProjectID
    package let createdAt: Instant

    package init(project: ProjectID, createdAt: Instant) {
        self.project = project
        self.createdAt = createdAt
    }
}

/// An app and the project that owns it.
package struct ListedApp: Hashable, Sendable {
    package let app: AppKey
    package let project: ProjectID
    package let appleID: Int64?
    package let receipts: ReceiptJudge
    /// Whether any customer's sandbox purchases count in production answers.
    package let countsSandbox: Bool

    package init(
        app: AppKey, project: ProjectID, appleID: Int64? = nil, receipts: ReceiptJudge = .local,
        countsSandbox: Bool = false
    ) {
        self.app = app
        self.project = project
        self.appleID = appleID
        self.receipts = receipts
        self.countsSandbox = countsSandbox
    }

    /// The app as used to check evidence. Sandbox evidence is also accepted. Reads decide whether it counts.
    package var trusted: TrustedApp {
        TrustedApp(id: app.id, appleID: appleID)
    }
}

/// A customer as shown in the list of a project's customers.
package struct ListedCustomer: Hashable, Sendable {
    package let stream: Stream
    /// `nil` if the customer's events cannot be read.
    package let state: CustomerState?

    package init(stream: Stream, state: CustomerState?) {
        self.stream = stream
        self.state = state
    }
}

/// An unclaimed purchase as shown in the list of a project's unclaimed purchases.
package struct ListedUnclaimed: Hashable, Sendable {
    package let purchase: PurchaseID
    package let app: AppID
    package let since: Instant
    /// The state of the reserved customer that keeps the purchase.
    package let state: CustomerState

    package init(purchase: PurchaseID, app: AppID, since: Instant, state: CustomerState) {
        self.purchase = purchase
        self.app = app
        self.since = since
        self.state = state
    }
}

/// A project's key that has not been revoked. The key may have expired recently.
package struct LiveKey: Hashable, Sendable {
    /// The SHA-256 of the key.
    package let digest: [UInt8]
    package let project: ProjectID
    package let key: KeyID
    package let role: Role
    package let limits: KeyLimits

    package init(
        digest: [UInt8], project: ProjectID, key: KeyID, role: Role,
        limits: KeyLimits = KeyLimits()
    ) {
        self.digest = digest
        self.project = project
        self.key = key
        self.role = role
        self.limits = limits
    }
}
