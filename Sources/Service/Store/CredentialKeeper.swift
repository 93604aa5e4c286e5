package import Core

/// Stores the credentials of apps for their stores.
package protocol CredentialKeeper: Sendable {
    /// Changes an app's credentials, unless the request is a repetition and the credentials have changed since.
    func change(
        _ app: StoreApp, _ change: CredentialsChange, at write: CredentialsWrite, by actor: Actor,
        now: Instant
    ) throws(CommandError) -> CredentialsStatus
    /// Returns a digest that distinguishes changes without revealing their secrets.
    func digest(of change: CredentialsChange) throws(CommandError) -> [UInt8]
    /// Deletes an app's credentials if they were written before the given version of its project's
    /// stream.
    func forget(_ app: StoreApp, before version: Int64) throws(Fault)
    /// Returns the parts of a project's credentials that may be shown, by app.
    func statuses(of project: ProjectID) throws(Fault) -> [AppKey: CredentialsStatus]
}
