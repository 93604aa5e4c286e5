import Core
import HTTPServer
import Service

/// What the ledger takes commands by: it responds when they are durable or refused.
typealias Submit =
    @Sendable (Command, _ respond: @escaping @Sendable (CommandResult) -> Void) -> Void

typealias Give = @Sendable (Response) -> Void

extension Wish {
    /// The wish for what the call answers with.
    func response(
        _ render: @escaping @Sendable (Answer) throws(Problem) -> Response
    ) -> Wish<Response> {
        then { result in .answered(.success(Response(result, render))) }
    }
}

extension Response {
    init<Answer>(
        _ result: Result<Answer, CommandError>, _ render: (Answer) throws(Problem) -> Response
    ) {
        do throws(CommandError) {
            let answer = try result.get()
            do throws(Problem) {
                self = try render(answer)
            } catch {
                self = error.response
            }
        } catch {
            self = Problem(error).response
        }
    }
}

extension Wish<Response> {
    /// Has the wish fulfilled; `give` gets the answer from the thread that ends the last step. `isPatient` tells
    /// whether this thread may wait; where none may, the reply finds one.
    func perform(
        isPatient: Bool, _ submit: @escaping Submit, _ reply: Reply, _ give: @escaping Give
    ) {
        switch self {
        case .answered(let result): give(Response(result) { $0 })
        case .write(let command, let then):
            submit(command) { then($0).perform(isPatient: false, submit, reply, give) }
        case .look(let look):
            if isPatient {
                return Wish(looking: look).perform(isPatient: true, submit, reply, give)
            }
            reply.whenPatient { Wish(looking: look).perform(isPatient: true, submit, reply, give) }
        }
    }
}

extension Reaction {
    /// What work comes to.
    init(after work: () throws(Problem) -> Reaction) {
        do throws(Problem) {
            self = try work()
        } catch {
            self = .answered(error.response)
        }
    }

    /// Has it done; as a wish is performed.
    func perform(
        isPatient: Bool, _ submit: @escaping Submit, _ reply: Reply, _ give: @escaping Give
    ) {
        switch self {
        case .answered(let response): give(response)
        case .asking(let begin): begin(give)
        case .writing(let wish): wish.perform(isPatient: isPatient, submit, reply, give)
        case .waiting(let work):
            if isPatient {
                return Reaction(after: work).perform(isPatient: true, submit, reply, give)
            }
            reply.whenPatient {
                Reaction(after: work).perform(isPatient: true, submit, reply, give)
            }
        }
    }
}
