package import Core
import Postgres
import SQL

/// Notes that an instance leaves in a database that lacks events, for other instances: they may have met it
/// before they saw those events, or be new. A note stops its reader but proves nothing: it names ends of
/// shards, and counts for nothing if the database has them, or if a loss was accepted since.
extension Connection {
    /// Notes what this instance has seen and the server lacks, unless it is noted already. If it cannot be
    /// written, as on a standby, no other instance continues with the server either.
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
        // Does not wait for standbys: a lost note is written again.
        try? execute([
            Statement.begin(), ConnectionSettings.losableTransaction(), note, Statement.commit(),
        ])
    }
}

extension LogGuard {
    /// Checks again whether the server has everything, since an instance has noted that it does
    /// not.
    func heed(_ connection: inout Connection) throws(LedgerError) {
        if heedsOthers { try meet(&connection) }
    }
}

extension Ledger {
    /// Deletes the instances' notes: the log was accepted as it is.
    package func forgetLostEnds() throws(Fault) {
        try faulting { () throws(LedgerError) in
            try pool.settled { connection throws(LedgerError) in
                try connection.execute([Statement.forgetLostEnds()])
            }
        }
    }
}
