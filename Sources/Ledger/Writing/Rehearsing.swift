package import Core
import Postgres

extension Ledger {
    /// More rounds than any command needs.
    private static let roundLimit = 10

    /// What the command would lead to now. Nothing of it is written.
    package func rehearse(_ command: Command) throws(CommandError) -> Rehearsal {
        var candidate = Candidate(command)
        for _ in 0..<Ledger.roundLimit {
            let round = try rehearse(candidate)
            do throws(Undecided) {
                return try round.get()
            } catch {
                switch error {
                case .refused(let refusal): throw .refused(refusal)
                case .fault(let fault): throw .fault(fault)
                case .lacking(let lack): candidate.learn(lack)
                }
            }
        }
        throw .fault(.busy)
    }

    private func rehearse(
        _ candidate: Candidate
    ) throws(CommandError) -> Result<Rehearsal, Undecided> {
        do throws(LedgerError) {
            return try pool.settled { connection throws(LedgerError) in
                // What was begun and is not committed is taken back.
                var batch = try connection.lockAndLoad(
                    [candidate], cache: cache, clocks, isSlow: false)
                return Result { () throws(Undecided) in
                    let outcome = try batch.decide(candidate)
                    let changed = batch.changedStreams.compactMap {
                        batch.folds[$0]?.state.customer
                    }
                    return Rehearsal(items: outcome.items, customers: changed)
                }
            }
        } catch {
            throw .fault(error.fault)
        }
    }
}
