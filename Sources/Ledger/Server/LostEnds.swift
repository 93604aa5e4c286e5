package import Core
import Postgres
import SQL

/// Notes that an instance leaves for the others in a database that lacks events. The others may have connected before
/// they saw those events, or may be new. A note names the ends of shards. It makes readers stop but proves nothing. A
/// note has no effect if the database has those events, or if a loss was accepted since.
extension Connection {
    /// Records, once, the ends that this instance has seen and the server lacks. If the note cannot be written, for
    /// example on a standby, other instances will not continue with this server either.
    mutating func note(_ shortage: Shortage, after acceptances: Int) {
        let isNoted = shortage.own.allSatisfy { own in
            shortage.stopping(after: acceptances).contains {
                $0.mark.shard == own.mark.shard && $0.mark.head >= own.mark.head
            }
        }
        if isNoted { return }
        let marks = shortage.own.map(\.mark)
        let note = Statement.noteLostEnds(
            .int2s(marks.map(\.shard.number)), .int8s(marks.map(\.head)),
            .byteas(marks.map(\.chain)), .int8(Int64(acceptances)))
        // Does not wait for standbys, because the next call replaces a lost note.
        try? execute([
            Statement.begin(), ConnectionSettings.losableTransaction(), note, Statement.commit(),
        ])
    }
}

extension LogGuard {
    /// Compares the known log with the server again, because another instance has noted missing events.
    func heed(_ connection: inout Connection) throws(LedgerError) {
        if heedsOthers { try meet(&connection) }
    }
}

extension Ledger {
    /// Deletes the instances' notes, because an operator has accepted the log as it is.
    package func forgetLostEnds() throws(Fault) {
        try send([Statement.forgetLostEnds()])
    }
}
