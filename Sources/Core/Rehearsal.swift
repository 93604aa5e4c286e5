/// What a command would have led to, had it been obeyed: decided by the same states and rules, and taken back.
package struct Rehearsal: Sendable {
    /// A customer whom the command concerns, as it is and as the command would leave it.
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
    /// The place in the log of the command's own customer up to which it holds.
    package let position: Position
    /// The command's own customer, then those whom it names.
    package let sides: [Side]

    package init(now: Instant, project: ProjectState, position: Position, sides: [Side]) {
        self.now = now
        self.project = project
        self.position = position
        self.sides = sides
    }
}

extension Command {
    /// The customers whom it concerns: its own, then those whom it names. Who keeps what no customer claimed is none.
    package var concerned: [CustomerID] {
        [stream.customer] + customers.filter { !$0.isReserved && !bystanders.contains($0) }
    }

    /// The same command, to be taken back once it is decided.
    package var rehearsal: Command {
        var command = self
        command.isRehearsal = true
        return command
    }

    /// The same command, refused where one of those whom it concerns has another version by then.
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
