internal import CPostgres

extension ConnectionSettings {
    /// Whether waiting may help after a failed connection. It may help if no server answers yet, or
    /// if servers accept the login but no writes. It does not help if the login is wrong.
    package var mayBeReachedLater: Bool {
        if PQping(url) != PQPING_OK { return true }
        var anywhere = self
        anywhere.isAnyServerTaken = true
        return (try? Connection.open(anywhere)) != nil
    }
}
