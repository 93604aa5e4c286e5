internal import CPostgres

extension ConnectionSettings {
    /// Whether waiting may help a session that could not be made: no server answers yet, or the answering
    /// ones would accept the login but no writes. A wrong login does not correct itself.
    package var mayBeReachedLater: Bool {
        if PQping(url) != PQPING_OK { return true }
        var anywhere = self
        anywhere.isAnyServerTaken = true
        return (try? Connection.open(anywhere)) != nil
    }
}
