package import Core

/// Keeps apps' credentials for their stores.
package protocol CredentialKeeper: Sendable {
    /// Changes an app's credentials, unless a repetition finds that they were changed since.
    func change(
        _ app: StoreApp, _ change: CredentialsChange, at write: CredentialsWrite, by actor: Actor,
        now: Instant
    ) throws(CommandError) -> CredentialsStatus
    /// Distinguishes changes without revealing their secrets.
    func digest(of change: CredentialsChange) throws(CommandError) -> [UInt8]
    /// Deletes an app's credentials that were written before a version of its project's stream.
    func forget(_ app: StoreApp, before version: Int64) throws(Fault)
    /// The information about a project's credentials that may be shown.
    func statuses(of project: ProjectID) throws(Fault) -> [AppKey: CredentialsStatus]
}
