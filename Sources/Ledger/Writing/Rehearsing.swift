import Core

extension Batch {
    /// Carries out a command, or only reports the changes that it would make.
    mutating func obey(_ candidate: Candidate) throws(Undecided) -> Outcome {
        candidate.command.isRehearsal ? try rehearse(candidate) : try decide(candidate)
    }

    /// Decides a command, then restores the previous state.
    private func rehearse(_ candidate: Candidate) throws(Undecided) -> Outcome {
        var rehearsed = self
        var outcome = try rehearsed.decide(candidate)
        func state(_ stream: Stream, _ folds: [Stream: Fold]) -> CustomerState {
            folds[stream]?.state.customer ?? CustomerState()
        }
        let shard = candidate.command.stream.shard
        var streams = candidate.command.concerned.map(candidate.command.stream.neighbour)
        // Leaves out a customer who has no events in the other environment.
        streams +=
            !candidate.command.movesWhole
            ? []
            : streams.map(\.inOtherEnvironment).filter {
                state($0, folds).version > 0
            }
        outcome.rehearsal = Rehearsal(
            now: now, project: project(of: candidate.command.stream),
            position: Position(shard: shard, sequence: heads[shard]?.sequence ?? 0),
            sides: streams.map {
                Rehearsal.Side(
                    stream: $0, before: state($0, folds), after: state($0, rehearsed.folds))
            })
        return outcome
    }
}
