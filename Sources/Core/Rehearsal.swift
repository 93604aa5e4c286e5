/// The result of a dry run: the effect that a command would have. Deed decides the command with the usual states and
/// rules, and then discards the decision.
package struct Rehearsal: Sendable {
    /// A customer whom the command concerns, before and after the command.
    package struct Side: Sendable {
        package let stream: Stream
        package let before: CustomerState
        package let after: CustomerState

        package init(stream: Stream, before: CustomerState, after: CustomerState) {
            self.stream = stream
            self.before = before
            self.after = after
        }
    }
    package let now: Instant
    package let project: ProjectState
    /// The position in the shard of the command's own customer up to which the dry run is current.
    package let position: Position
    /// The command's own customer, followed by the customers that the command names.
    package let sides: [Side]

    package init(now: Instant, project: ProjectState, position: Position, sides: [Side]) {
        self.now = now
        self.project = project
        self.position = position
        self.sides = sides
    }
}

extension Command {
    /// The customers whom the command concerns: its own customer, then the customers that it names.
    /// Keepers of unclaimed purchases are not included.
    package var concerned: [CustomerID] {
        [stream.customer] + customers.filter { !$0.isReserved && !bystanders.contains($0) }
    }

    /// The same command, but its effects are discarded after the decision.
    package var rehearsal: Command {
        var command = self
        command.isRehearsal = true
        return command
    }

    /// Returns the same command, which is refused if one of the customers concerned has a different version when the
    /// command is decided.
    package func requiring(_ versions: [Int64]) -> Command {
        var command = self
        let expected = Array(zip(concerned, versions))
        command.decide = { [decide, concerned] situation throws(Refusal) in
            for (customer, version) in expected {
                let found = situation.customer(customer).version
                if found != version { throw .customerChangedMeanwhile(customer, found: found) }
            }
            let decision = try decide(situation)
            if expected.count != versions.count || expected.count != concerned.count {
                throw .versionsMiscounted(concerned.count)
            }
            return decision
        }
        return command
    }
}
