package import Core

/// Keeps what apps show their stores.
package protocol CredentialKeeper: Sendable {
    /// Changes what an app shows the store; not where a repetition finds that it was changed since.
    func change(
        _ app: StoreApp, _ change: CredentialsChange, at write: CredentialsWrite, by actor: Actor,
        now: Instant
    ) throws(CommandError) -> CredentialsStatus
    /// Tells one change from another, and nothing of the secrets in it.
    func digest(of change: CredentialsChange) throws(CommandError) -> [UInt8]
    /// Forgets those of an app that were written before a version of its project's stream.
    func forget(_ app: StoreApp, before version: Int64) throws(Fault)
    /// What may be told of those of a project.
    func statuses(of project: ProjectID) throws(Fault) -> [AppKey: CredentialsStatus]
}
