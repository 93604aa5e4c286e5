/// Evidence that only the store can judge, and what is known of it.
package struct StoreInquiry: Sendable {
    package let evidence: RawEvidence
    package let app: App
    /// The app as the store knows it.
    package let storeApp: StoreApp
    /// Where the evidence says that it was made.
    package let environment: Environment
    /// How often it was judged, this time included.
    package let tries: Int64
    /// Why the last try came to nothing.
    package let formerReason: IntakeReason?
    /// By when an answer may have been made.
    package let now: Instant

    package init(
        evidence: RawEvidence, project: ProjectID, app: App, environment: Environment,
        tries: Int64, formerReason: IntakeReason?, now: Instant
    ) {
        self.evidence = evidence
        self.app = app
        storeApp = StoreApp(project: project, key: app.key)
        self.environment = environment
        self.tries = tries
        self.formerReason = formerReason
        self.now = now
    }
}
