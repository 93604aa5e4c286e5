package import Core

/// What the use cases need of the place where credentials are kept.
package struct CredentialsPort: Sendable {
    package typealias Change =
        @Sendable (StoreApp, CredentialsChange, CredentialsWrite, _ by: Actor, _ now: Instant)
        throws(CommandError) -> CredentialsStatus

    /// Changes what an app shows the store; not where a repetition finds that it was changed since.
    package var change: Change
    /// Tells one change from another, and nothing of the secrets in it.
    package var digest: @Sendable (CredentialsChange) throws(CommandError) -> [UInt8]
    /// Forgets those of an app that were written before a version of its project's stream.
    package var forget: @Sendable (StoreApp, _ version: Int64) throws(Fault) -> Void
    /// What may be told of those of a project.
    package var statuses: @Sendable (ProjectID) throws(Fault) -> [AppKey: CredentialsStatus]

    package init(
        change: @escaping Change,
        digest: @escaping @Sendable (CredentialsChange) throws(CommandError) -> [UInt8],
        forget: @escaping @Sendable (StoreApp, _ version: Int64) throws(Fault) -> Void,
        statuses: @escaping @Sendable (ProjectID) throws(Fault) -> [AppKey: CredentialsStatus]
    ) {
        self.change = change
        self.digest = digest
        self.forget = forget
        self.statuses = statuses
    }
}
