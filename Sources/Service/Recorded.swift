import Core

/// The record of a command. The first call and each repetition find the same record in the log.
struct Recorded<Told> {
    let told: Told
    /// The event that contains the record.
    let event: RecordedEvent
    let outcome: Outcome

    /// A position in the log that covers the event.
    var position: Position { event.position }
    /// A position that covers all of the command's events.
    var last: Position { outcome.events.last?.position ?? outcome.position }

    /// Finds the first event in the outcome that contains the record.
    fileprivate init?(_ outcome: Outcome, _ tell: (Event) -> Told?) {
        for event in outcome.events {
            guard let told = tell(event.event) else { continue }
            (self.told, self.event, self.outcome) = (told, event, outcome)
            return
        }
        return nil
    }
}

extension Wish {
    /// Creates a wish with a single command, whose answer comes from the command's record. A repetition finds the same
    /// record and therefore gets the same answer, regardless of later changes. `otherwise` supplies the answer if the
    /// command had nothing to do.
    init<Told>(
        _ command: Command, telling tell: @escaping @Sendable (Event) -> Told?,
        answer: @escaping @Sendable (Recorded<Told>) throws(CommandError) -> Answer,
        otherwise: @escaping @Sendable (Outcome) throws(CommandError) -> Answer
    ) {
        self.init(command) { outcome throws(CommandError) in
            guard let recorded = Recorded(outcome, tell) else { return try otherwise(outcome) }
            return try answer(recorded)
        }
    }

    /// Creates a wish with a command that always leaves a record. `missing` describes the fault if the record is
    /// missing.
    init<Told>(
        _ command: Command, telling tell: @escaping @Sendable (Event) -> Told?,
        missing: String,
        answer: @escaping @Sendable (Recorded<Told>) throws(CommandError) -> Answer
    ) {
        self.init(command, telling: tell, answer: answer) { _ throws(CommandError) in
            throw .fault(.broken(missing))
        }
    }
}
