package import Core
import Synchronization
package import Threading

package typealias CommandResult = Result<Outcome, CommandError>

/// A change that a sender wants to make, divided into steps, and the resulting answer.
///
/// A step says what it needs, but not who waits for it. A command's own thread can wait, or a
/// server can start the next step where the previous one ended. No thread has to wait for a commit.
package indirect enum Wish<Answer: Sendable>: Sendable {
    /// All steps are done.
    case answered(Result<Answer, CommandError>)
    /// A command for the ledger, and the step that follows its result.
    case write(Command, then: @Sendable (CommandResult) -> Wish)
    /// A slow operation, such as a database query.
    case look(@Sendable () throws(CommandError) -> Wish)
    /// A question to another party, such as a store, and the step that follows the answer.
    case ask(Course<Wish>)

    /// Creates a wish with a single command.
    package init(
        _ command: Command,
        answer: @escaping @Sendable (Outcome) throws(CommandError) -> Answer
    ) {
        self = .write(command) { result in
            .answered(Result { () throws(CommandError) in try answer(try result.get()) })
        }
    }

    /// Creates a wish with several commands that are carried out in order, each in a separate commit.
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

    /// Creates a wish that performs a lookup immediately.
    package init(looking look: () throws(CommandError) -> Wish) {
        do throws(CommandError) {
            self = try look()
        } catch {
            self = .answered(.failure(error))
        }
    }

    /// Passes the answer to `next` and continues with the result.
    package func then<Other>(
        _ next: @escaping @Sendable (Result<Answer, CommandError>) -> Wish<Other>
    ) -> Wish<Other> {
        switch self {
        case .answered(let result): next(result)
        case .write(let command, let then): .write(command) { then($0).then(next) }
        case .look(let look): .look { Wish(looking: look).then(next) }
        case .ask(let course): .ask(course.map { $0.then(next) })
        }
    }

    /// Continues with a lookup that converts the answer.
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

    /// Looks up a purchase and continues. If the purchase changes before the decision, it is looked
    /// up again.
    static func lookingAgain(
        at purchase: PurchaseID, attempts: Int = 3,
        _ look: @escaping @Sendable () throws(CommandError) -> Wish
    ) -> Wish {
        Wish.look(look).then { result in
            guard attempts > 1,
                case .failure(.refused(.move(.changedMeanwhile(purchase)))) = result
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
            case .ask(let course): wish = course.awaited()
            }
        }
    }
}

/// Exists while a command is on its way. A batch that is about to be committed may wait briefly for the command.
package final class Announcement: Sendable {
    private let isOver = Atomic(false)
    private let ledger: any EventLog

    package init(to ledger: any EventLog) {
        self.ledger = ledger
        ledger.announce(1)
    }

    /// Ends the announcement because the command has arrived.
    package func end() {
        if !isOver.exchange(true, ordering: .relaxed) { ledger.announce(-1) }
    }

    /// Ends the announcement of a command that never arrives.
    deinit { end() }
}
