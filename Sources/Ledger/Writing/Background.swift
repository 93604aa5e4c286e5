package import Core
import Postgres
import Threading

extension Ledger {
    /// Decides commands whenever no client waits. Commands for the same shard stay in order, in
    /// batches small enough for clients to wait for. The results of a rehearsal are rolled back.
    package func appendAll(
        _ commands: [Command], at pace: UpkeepPace, isRehearsal: Bool
    ) -> [Result<Outcome, CommandError>] {
        appendAll(
            commands.map { ($0, []) }, at: pace, as: isRehearsal ? .rehearsal : .background)
    }

    /// Works like `appendAll`, but first makes the given table changes for each command.
    func appendAll(
        _ commands: [(command: Command, calls: [Call])], at pace: UpkeepPace,
        as kind: PendingCommand.Kind = .background
    ) -> [PendingCommand.Answer] {
        let answers = Monitor<[Int: PendingCommand.Answer]>([:])
        let pending = commands.enumerated().map { place, one in
            PendingCommand(
                command: one.command, calls: one.calls, kind: kind, lease: pace.lease,
                patience: pace.patience
            ) { answer in
                answers.changeAndWake { answers in
                    answers[place] = answer
                    return ((), answers.count == commands.count ? .all : .none)
                }
            }
        }
        for (shard, share) in Dictionary(grouping: pending, by: \.command.stream.shard) {
            for batch in share.pages(of: settings.backgroundBatch)
            where !queue(of: shard).add(behind: batch) {
                for one in batch { one.respond(.failure(.fault(.unavailable))) }
            }
        }
        return answers.wait { answers in
            answers.count == commands.count ? commands.indices.compactMap { answers[$0] } : nil
        }
    }
}
