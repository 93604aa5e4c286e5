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
    /// Changes what an app shows the store.
    package var change:
        @Sendable (StoreApp, CredentialsChange, _ by: Actor, _ now: Instant) throws(CommandError)
            -> CredentialsStatus
    /// Forgets an app's.
    package var remove: @Sendable (StoreApp) throws(Fault) -> Void
    /// What may be told of those of a project.
    package var statuses: @Sendable (ProjectID) throws(Fault) -> [AppKey: CredentialsStatus]

    package init(
        change:
            @escaping @Sendable (StoreApp, CredentialsChange, _ by: Actor, _ now: Instant)
            throws(CommandError) -> CredentialsStatus,
        remove: @escaping @Sendable (StoreApp) throws(Fault) -> Void,
        statuses: @escaping @Sendable (ProjectID) throws(Fault) -> [AppKey: CredentialsStatus]
    ) {
        self.change = change
        self.remove = remove
        self.statuses = statuses
    }
}
