package import Core
internal import Threading

/// Conditions for carrying out a wish.
package struct Terms: Hashable, Sendable {
    /// Whether to show only what would change.
    package let isRehearsal: Bool
    /// The versions that the customers concerned must have, in order; empty if any version is
    /// acceptable.
    package let versions: [Int64]

    package init(isRehearsal: Bool = false, versions: [Int64] = []) {
        self.isRehearsal = isRehearsal
        self.versions = versions
    }
}

extension Wish {
    /// Returns the same wish, but refused if a customer has a different version when the command is
    /// decided.
    package func requiring(_ versions: [Int64]) -> Wish {
        if versions.isEmpty { return self }
        switch self {
        case .answered: return self
        case .write(let command, let then):
            return .write(command.requiring(versions)) { then($0).requiring(versions) }
        case .look(let look): return .look { Wish(looking: look).requiring(versions) }
        case .ask(let course): return .ask(course.map { $0.requiring(versions) })
        }
    }

    /// The same wish, but refused if it exceeds the limits for support staff.
    package var withinSupportLimits: Wish {
        switch self {
        case .answered: self
        case .write(let command, let then):
            .write(command.withinSupportLimits) { then($0).withinSupportLimits }
        case .look(let look): .look { Wish(looking: look).withinSupportLimits }
        case .ask(let course): .ask(course.map(\.withinSupportLimits))
        }
    }

    /// The changes that the wish would make. The wish is carried out and may be refused as usual,
    /// but nothing is written.
    package var rehearsed: Wish<Rehearsal> {
        switch self {
        case .answered(.failure(let error)): .answered(.failure(error))
        case .answered(.success):
            .answered(.failure(.fault(.broken("a dry run ended without a command"))))
        case .write(let command, let then):
            .write(command.rehearsal) { result in
                // If the command was refused, the wish may go on with another lookup.
                guard case .success(let outcome) = result else { return then(result).rehearsed }
                guard let rehearsal = outcome.rehearsal else {
                    return .answered(.failure(.fault(.broken("a dry run returned nothing"))))
                }
                return .answered(.success(rehearsal))
            }
        case .look(let look): .look { Wish(looking: look).rehearsed }
        case .ask(let course): .ask(course.map(\.rehearsed))
        }
    }
}

/// What the customers have now, and what they would have after the wish.
package struct RehearsalAnswer: Sendable {
    package struct Side: Sendable {
        package let stream: Stream
        package let version: Int64
        package let before: Standing
        package let after: Standing
    }

    /// What reads would answer about a customer.
    package struct Standing: Sendable {
        package let entitlements: Entitlements
        package let balances: Balances
    }
    package let position: Position
    package let sides: [Side]
}

extension Customers {
    /// Returns the changes that the wish would make for the customers concerned, in the form in
    /// which reads would show them.
    package func rehearsing<Answer>(_ wish: Wish<Answer>) -> Wish<RehearsalAnswer> {
        wish.rehearsed.thenLooking { rehearsal throws(CommandError) in
            var sides: [RehearsalAnswer.Side] = []
            for side in rehearsal.sides {
                sides.append(try obtain(answer(side, of: rehearsal)))
            }
            return RehearsalAnswer(position: rehearsal.position, sides: sides)
        }
    }

    private func answer(
        _ side: Rehearsal.Side, of rehearsal: Rehearsal
    ) throws(Fault) -> RehearsalAnswer.Side {
        let apps = rehearsal.project.sandboxApps(for: side.stream.customer)
        let counts = side.stream.environment == .production && !apps.isEmpty
        let sandbox = counts ? try ledger.customer(of: side.stream.inSandbox).customer : nil
        func standing(_ state: CustomerState) -> RehearsalAnswer.Standing {
            let whole = sandbox.map { state.including($0, of: apps) } ?? state
            return RehearsalAnswer.Standing(
                entitlements: whole.entitlements(
                    at: rehearsal.now, catalog: rehearsal.project.catalog),
                balances: state.balances)
        }
        return RehearsalAnswer.Side(
            stream: side.stream, version: side.before.version, before: standing(side.before),
            after: standing(side.after))
    }
}
