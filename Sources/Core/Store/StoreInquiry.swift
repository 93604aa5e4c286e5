/// Evidence that only the store can judge, with the information needed to ask the store.
package struct StoreInquiry: Sendable {
    package let evidence: RawEvidence
    package let app: App
    /// The app, identified by its key at the store.
    package let storeApp: StoreApp
    /// The environment that the evidence names.
    package let environment: Environment
    /// How many attempts have been made to judge the evidence, including this one.
    package let tries: Int64
    /// Why the last attempt failed.
    package let formerReason: IntakeReason?
    /// The latest instant at which an answer can have been created.
    package let now: Instant
    /// The project's products. A store may require a different request for each kind of product.
    package let catalog: Catalog

    package init(
        evidence: RawEvidence, project: ProjectID, app: App, environment: Environment,
        tries: Int64, formerReason: IntakeReason?, now: Instant, catalog: Catalog = Catalog()
    ) {
        self.evidence = evidence
        self.app = app
        storeApp = StoreApp(project: project, key: app.key)
        self.environment = environment
        self.tries = tries
        self.formerReason = formerReason
        self.now = now
        self.catalog = catalog
    }
}
