package import Core
import Synchronization

package typealias CommandResult = Result<Outcome, CommandError>

/// What a sender wants written, step by step, and the resulting answer.
///
/// A step says what it needs and not who waits for it: a command's own thread may, and a server begins
/// the next step where the last one ended, so that no thread waits for a commit.
package indirect enum Wish<Answer: Sendable>: Sendable {
    /// Nothing is left to do.
    case answered(Result<Answer, CommandError>)
    /// A command for the ledger, and what follows from its result.
    case write(Command, then: @Sendable (CommandResult) -> Wish)
    /// Something that takes a while, such as a lookup in the database.
    case look(@Sendable () throws(CommandError) -> Wish)

    /// A command alone.
    package init(
        _ command: Command,
        answer: @escaping @Sendable (Outcome) throws(CommandError) -> Answer
    ) {
        self = .write(command) { result in
            .answered(Result { () throws(CommandError) in try answer(try result.get()) })
        }
    }

    /// Commands that are written in turn, each in its own commit.
    package init(
        _ commands: [Command],
        answer: @escaping @Sendable ([CommandResult]) throws(CommandError) -> Answer
    ) {
        self = .next(commands[...], [], answer)
    }

    private static func next(
        _ commands: ArraySlice<Command>, _ results: [CommandResult],
        _ answer: @escaping @Sendable ([CommandResult]) throws(CommandError) -> Answer
    ) -> Wish {
        guard let command = commands.first else {
            return .answered(Result { () throws(CommandError) in try answer(results) })
        }
        return .write(command) { .next(commands.dropFirst(), results + [$0], answer) }
    }

    /// The result of a lookup.
    package init(looking look: () throws(CommandError) -> Wish) {
        do throws(CommandError) {
            self = try look()
        } catch {
            self = .answered(.failure(error))
        }
    }

    /// The same wish, followed by what `next` makes of its answer.
    package func then<Other>(
        _ next: @escaping @Sendable (Result<Answer, CommandError>) -> Wish<Other>
    ) -> Wish<Other> {
        switch self {
        case .answered(let result): next(result)
        case .write(let command, let then): .write(command) { then($0).then(next) }
        case .look(let look): .look { Wish(looking: look).then(next) }
        }
    }

    /// The same wish, whose answer is checked once more before it is given.
    package func thenLooking<Other>(
        _ look: @escaping @Sendable (Answer) throws(CommandError) -> Other
    ) -> Wish<Other> {
        then { result in
            switch result {
            case .failure(let error): .answered(.failure(error))
            case .success(let answer):
                .look { () throws(CommandError) in .answered(.success(try look(answer))) }
            }
        }
    }

    /// What follows from a lookup of a purchase; looks again if it changed between the lookup and
    /// the decision.
    static func lookingAgain(
        at purchase: PurchaseID, attempts: Int = 3,
        _ look: @escaping @Sendable () throws(CommandError) -> Wish
    ) -> Wish {
        Wish.look(look).then { result in
            guard attempts > 1,
                case .failure(.refused(.purchaseChangedMeanwhile(purchase))) = result
            else { return .answered(result) }
            return lookingAgain(at: purchase, attempts: attempts - 1, look)
        }
    }
}

extension EventLog {
    /// Carries out the wish, and waits for the answer.
    package func perform<Answer>(_ wish: Wish<Answer>) throws(CommandError) -> Answer {
        var wish = wish
        while true {
            switch wish {
            case .answered(let result): return try result.get()
            case .write(let command, let then):
                wish = then(Result { () throws(CommandError) in try append(command) })
            case .look(let look): wish = try look()
            }
        }
    }
}

/// Held while a command is on its way: a batch that is about to be committed may wait a moment for it.
package final class Announcement: Sendable {
    private let isOver = Atomic(false)
    private let ledger: any EventLog

    package init(to ledger: any EventLog) {
        self.ledger = ledger
        ledger.announce(1)
    }

    /// The command has arrived.
    package func end() {
        if !isOver.exchange(true, ordering: .relaxed) { ledger.announce(-1) }
    }

    /// In case it never arrives.
    deinit { end() }
}
