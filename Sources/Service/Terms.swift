package import Core

/// On what terms a wish is to be fulfilled.
package struct Terms: Hashable, Sendable {
    /// Nothing is done: what would be is told.
    package let isRehearsal: Bool
    /// The versions that those whom it concerns must have, in their order; none where any will do.
    package let versions: [Int64]

    package init(isRehearsal: Bool = false, versions: [Int64] = []) {
        self.isRehearsal = isRehearsal
        self.versions = versions
    }
}

extension Wish {
    /// The same wish, refused where one of those whom it concerns has another version by then.
    package func requiring(_ versions: [Int64]) -> Wish {
        if versions.isEmpty { return self }
        switch self {
        case .answered: return self
        case .write(let command, let then):
            return .write(command.requiring(versions)) { then($0).requiring(versions) }
        case .look(let look): return .look { Wish(looking: look).requiring(versions) }
        }
    }

    /// What the wish would change. It is decided and refused as it would be; nothing is written.
    package var rehearsed: Wish<Rehearsal> {
        switch self {
        case .answered(.failure(let error)): .answered(.failure(error))
        case .answered(.success):
            .answered(.failure(.fault(.broken("a rehearsal came to an end without a command"))))
        case .write(let command, let then):
            .write(command.rehearsal) { result in
                // A refusal may lead to another look.
                guard case .success(let outcome) = result else { return then(result).rehearsed }
                guard let rehearsal = outcome.rehearsal else {
                    return .answered(.failure(.fault(.broken("a rehearsal told nothing"))))
                }
                return .answered(.success(rehearsal))
            }
        case .look(let look): .look { Wish(looking: look).rehearsed }
        }
    }
}

/// What customers would have by a wish, and what they have.
package struct RehearsalAnswer: Sendable {
    package struct Side: Sendable {
        package let stream: Stream
        package let version: Int64
        package let before: Standing
        package let after: Standing
    }

    /// What reads answer about a customer.
    package struct Standing: Sendable {
        package let entitlements: Entitlements
        package let balances: Balances
    }
    package let position: Position
    package let sides: [Side]
}

extension Customers {
    /// What the wish would change for those whom it concerns, as reads would answer it.
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
