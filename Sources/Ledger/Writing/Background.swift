package import Core
import Postgres
import Threading

extension Ledger {
    /// Has commands decided behind all that clients wait for: those of a shard together, in their order. A shard that
    /// another session has locked is waited for with `patience`, in milliseconds. In a rehearsal what the commands
    /// lead to is taken back.
    package func appendAll(
        _ commands: [Command], patience: Int64, isRehearsal: Bool
    ) -> [Result<Outcome, CommandError>] {
        appendAll(
            commands.map { ($0, []) }, patience: patience,
            as: isRehearsal ? .rehearsal : .background)
    }

    /// The same with what each command does to the tables in front of what is decided.
    func appendAll(
        _ commands: [(command: Command, calls: [Call])], patience: Int64,
        as kind: PendingCommand.Kind = .background
    ) -> [PendingCommand.Answer] {
        let answers = Monitor<[Int: PendingCommand.Answer]>([:])
        let pending = commands.enumerated().map { place, one in
            PendingCommand(
                command: one.command, calls: one.calls, kind: kind, patience: patience
            ) { answer in
                answers.changeAndWake { answers in
                    answers[place] = answer
                    return ((), answers.count == commands.count ? .all : .none)
                }
            }
        }
        for (shard, share) in Dictionary(grouping: pending, by: \.command.stream.shard) {
            if queue(of: shard).add(behind: share) { continue }
            for one in share { one.respond(.failure(.fault(.busy))) }
        }
        return answers.wait { answers in
            answers.count == commands.count ? commands.indices.compactMap { answers[$0] } : nil
        }
    }
}
