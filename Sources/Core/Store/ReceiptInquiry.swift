/// A legacy receipt that only the store can judge, and what is known of it.
package struct ReceiptInquiry: Sendable {
    package let receipt: RawEvidence
    package let project: ProjectID
    package let app: App
    /// Where the receipt says that it was made.
    package let environment: Environment
    /// How often it was judged, this time included.
    package let tries: Int64
    /// Why the last try came to nothing.
    package let formerReason: IntakeReason?
    /// By when an answer may have been made.
    package let now: Instant

    package init(
        receipt: RawEvidence, project: ProjectID, app: App, environment: Environment,
        tries: Int64, formerReason: IntakeReason?, now: Instant
    ) {
        self.receipt = receipt
        self.project = project
        self.app = app
        self.environment = environment
        self.tries = tries
        self.formerReason = formerReason
        self.now = now
    }
}
