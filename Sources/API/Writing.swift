import Core
import HTTPServer
import Service

/// What the ledger takes commands by: it responds when they are durable or refused.
typealias Submit =
    @Sendable (Command, _ respond: @escaping @Sendable (Result<Outcome, CommandError>) -> Void) ->
    Void

/// What a call wants written, and its answer once that is done. Nobody waits meanwhile: the answer is
/// made by the thread that has the last outcome.
enum Writing: Sendable {
    /// There is nothing to write.
    case answered(Response)
    case commands([Command], respond: @Sendable ([CommandResult]) -> Response)

    init<Answer>(
        _ wish: Wish<Answer>, _ render: @escaping @Sendable (Answer) throws(Problem) -> Response
    ) {
        self = .commands(wish.commands) { results in
            do throws(CommandError) {
                let answer = try wish.answer(results)
                do throws(Problem) {
                    return try render(answer)
                } catch {
                    return error.response
                }
            } catch {
                return Problem(error).response
            }
        }
    }

    /// Has the commands written, one after the other, and hands over the answer.
    func perform(_ submit: @escaping Submit, _ give: @escaping @Sendable (Response) -> Void) {
        switch self {
        case .answered(let response): give(response)
        case .commands(let commands, let respond):
            Writing.perform(commands[...], [], submit) { give(respond($0)) }
        }
    }

    private static func perform(
        _ commands: ArraySlice<Command>, _ results: [CommandResult], _ submit: @escaping Submit,
        _ give: @escaping @Sendable ([CommandResult]) -> Void
    ) {
        guard let command = commands.first else {
            give(results)
            return
        }
        submit(command) { result in
            perform(commands.dropFirst(), results + [result], submit, give)
        }
    }
}
