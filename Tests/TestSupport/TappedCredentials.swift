package import Core
package import Service

/// The service's credentials, with some functions replaced by a test.
package struct TappedCredentials: CredentialKeeper {
    package typealias Change =
        @Sendable (StoreApp, CredentialsChange, CredentialsWrite, Actor, Instant)
        throws(CommandError) -> CredentialsStatus

    private let credentials: any CredentialKeeper
    private let change: Change?
    private let statuses: [AppKey: CredentialsStatus]?

    package init(
        _ credentials: any CredentialKeeper, statuses: [AppKey: CredentialsStatus]? = nil,
        change: Change? = nil
    ) {
        self.credentials = credentials
        self.statuses = statuses
        self.change = change
    }

    package func change(
        _ app: StoreApp, _ change: CredentialsChange, at write: CredentialsWrite, by actor: Actor,
        now: Instant
    ) throws(CommandError) -> CredentialsStatus {
        if let tap = self.change { return try tap(app, change, write, actor, now) }
        return try credentials.change(app, change, at: write, by: actor, now: now)
    }

    package func digest(of change: CredentialsChange) throws(CommandError) -> [UInt8] {
        try credentials.digest(of: change)
    }

    package func forget(_ app: StoreApp, before version: Int64) throws(Fault) {
        try credentials.forget(app, before: version)
    }

    package func statuses(of project: ProjectID) throws(Fault) -> [AppKey: CredentialsStatus] {
        if let statuses { statuses } else { try credentials.statuses(of: project) }
    }
}
