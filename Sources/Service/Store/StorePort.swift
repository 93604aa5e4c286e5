package import Core

/// What the use cases need of the store itself.
package struct StorePort: Sendable {
    /// What the store says of a legacy receipt. It answers, or gives up, well before a lease ends.
    package var judge: @Sendable (ReceiptInquiry) -> Judgement<ProvenEvidence, Postponement>
    /// One page of what the store answers. Without an environment, of the one that knows the transaction.
    package var ask:
        @Sendable (StoreCall, StoreApp, Environment?) throws(StoreTrouble) -> StoreAnswer

    package init(
        judge:
            @escaping @Sendable (ReceiptInquiry) -> Judgement<ProvenEvidence, Postponement>,
        ask:
            @escaping @Sendable (StoreCall, StoreApp, Environment?) throws(StoreTrouble) ->
            StoreAnswer
    ) {
        self.judge = judge
        self.ask = ask
    }
}

/// What the use cases need of the place where credentials are kept.
package struct CredentialsPort: Sendable {
    package typealias Change =
        @Sendable (StoreApp, CredentialsChange, _ by: Actor, _ now: Instant, _ since: Instant?)
        throws(CommandError) -> CredentialsStatus

    /// Changes what an app shows the store; not where it was changed since an instant.
    package var change: Change
    /// Tells one change from another, and nothing of the secrets in it.
    package var digest: @Sendable (CredentialsChange) throws(CommandError) -> [UInt8]
    /// Forgets those of an app that its project does not have.
    package var clean: @Sendable (StoreApp) throws(Fault) -> Void
    /// What may be told of those of a project.
    package var statuses: @Sendable (ProjectID) throws(Fault) -> [AppKey: CredentialsStatus]

    package init(
        change: @escaping Change,
        digest: @escaping @Sendable (CredentialsChange) throws(CommandError) -> [UInt8],
        clean: @escaping @Sendable (StoreApp) throws(Fault) -> Void,
        statuses: @escaping @Sendable (ProjectID) throws(Fault) -> [AppKey: CredentialsStatus]
    ) {
        self.change = change
        self.digest = digest
        self.clean = clean
        self.statuses = statuses
    }
}
