package import Core

package typealias CommandResult = Result<Outcome, CommandError>

/// Commands that are ready for the ledger, and what their outcomes mean to who wished for them.
///
/// Making the commands and understanding the outcomes are apart, so that no thread has to wait in
/// between.
package struct Wish<Answer>: Sendable {
    /// Written one after the other, each in a commit of its own.
    package let commands: [Command]
    package let answer: @Sendable ([CommandResult]) throws(CommandError) -> Answer

    package init(
        _ commands: [Command],
        answer: @escaping @Sendable ([CommandResult]) throws(CommandError) -> Answer
    ) {
        self.commands = commands
        self.answer = answer
    }

    package init(
        _ command: Command,
        answer: @escaping @Sendable (Outcome) throws(CommandError) -> Answer
    ) {
        self.init([command]) { results throws(CommandError) in try answer(results[0].get()) }
    }
}

extension Ports {
    /// Has the commands written, and waits for the answer.
    package func perform<Answer>(_ wish: Wish<Answer>) throws(CommandError) -> Answer {
        var results: [CommandResult] = []
        for command in wish.commands {
            results.append(
                Result { () throws(CommandError) in try ledger.append(command) })
        }
        return try wish.answer(results)
    }
}
