package import Core
import Postgres
import SQL

/// What an instance notes in a database that lacks events, for the others: they may have met it before they saw
/// those events, or be new. A note stops who reads it and proves nothing: it names ends of shards, and where the
/// database has them, or a loss was accepted since, it counts for nothing.
extension Connection {
    /// Notes what this instance has seen and the server lacks, where that is not noted yet. Where it cannot be
    /// written, as in a standby, no other instance goes on with it either.
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
        // It does not wait for standbys: what is lost of it is noted again.
        try? execute([
            Statement.begin(), ConnectionSettings.losableTransaction(), note, Statement.commit(),
        ])
    }
}

extension LogGuard {
    /// Looks again whether the server has everything, since an instance has noted that it does not.
    func heed(_ connection: inout Connection) throws(LedgerError) {
        if heedsOthers { try meet(&connection) }
    }
}

extension Ledger {
    /// Takes back what instances have noted: the log was accepted as it is.
    package func forgetLostEnds() throws(Fault) {
        try faulting { () throws(LedgerError) in
            try pool.settled { connection throws(LedgerError) in
                try connection.execute([Statement.forgetLostEnds()])
            }
        }
    }
}
