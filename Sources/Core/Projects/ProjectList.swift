/// A project as the list of projects shows it.
package struct ListedProject: Hashable, Sendable {
    package let project: ProjectID
    package let createdAt: Instant

    package init(project: ProjectID, createdAt: Instant) {
        self.project = project
        self.createdAt = createdAt
    }
}

/// An app and the project that has it, whichever that is.
package struct ListedApp: Hashable, Sendable {
    package let app: AppKey
    package let project: ProjectID
    package let appleID: Int64?
    package let receipts: ReceiptJudge
    /// Whether sandbox purchases of any customer count in production answers.
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

    /// As evidence is measured against it. That of the sandbox is taken, too: whether it counts is
    /// decided where it is read.
    package var trusted: TrustedApp {
        TrustedApp(id: app.id, appleID: appleID)
    }
}

/// A customer as the list of a project's customers shows it.
package struct ListedCustomer: Hashable, Sendable {
    package let stream: Stream
    /// `nil` where the customer's events cannot be read.
    package let state: CustomerState?

    package init(stream: Stream, state: CustomerState?) {
        self.stream = stream
        self.state = state
    }
}

/// A purchase that no customer claimed, as the list of those shows it.
package struct ListedUnclaimed: Hashable, Sendable {
    package let purchase: PurchaseID
    package let app: AppID
    package let since: Instant
    /// The state of the reserved customer that keeps it.
    package let state: CustomerState

    package init(purchase: PurchaseID, app: AppID, since: Instant, state: CustomerState) {
        self.purchase = purchase
        self.app = app
        self.since = since
        self.state = state
    }
}

/// A key that opens its project, as it is looked up.
package struct LiveKey: Hashable, Sendable {
    /// SHA-256 of the key.
    package let digest: [UInt8]
    package let project: ProjectID
    package let key: KeyID
    package let role: Role

    package init(digest: [UInt8], project: ProjectID, key: KeyID, role: Role) {
        self.digest = digest
        self.project = project
        self.key = key
        self.role = role
    }
}
