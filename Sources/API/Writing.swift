import Core
import HTTPServer
import Service

typealias Give = @Sendable (Result<Response, Problem>) -> Void

/// The current result of a call.
enum Reaction: Sendable {
    case answered(Result<Response, Problem>)
    /// Another thread gives the answer when it is ready.
    case asking(_ begin: @Sendable (_ give: @escaping Give) -> Void)
    /// A worker has to wait for it.
    case waiting(@Sendable () throws(Problem) -> Reaction)
    case writing(Wish<Response>)
}

protocol Reacting: SendableMetatype {
    var reaction: Reaction { get }
}

extension Reaction: Reacting {
    var reaction: Reaction { self }
}

extension Response: Reacting {
    var reaction: Reaction { .answered(.success(self)) }
}

extension Wish<Response>: Reacting {
    var reaction: Reaction { .writing(self) }
}

extension Wish {
    /// The wish for the response to the call.
    func response(_ render: @escaping @Sendable (Answer) -> Response) -> Wish<Response> {
        then { .answered($0.map(render)) }
    }
}

extension Wish<Response> {
    /// Performs the wish; `give` gets the answer from the thread that ends the last step. `isPatient` tells
    /// whether this thread may wait; if not, the reply finds another thread.
    func perform(
        isPatient: Bool, _ ledger: any EventLog, _ reply: LateReply, _ give: @escaping Give
    ) {
        switch self {
        case .answered(let result): give(result.mapError { Problem($0) })
        case .write(let command, let then):
            ledger.submit(command) { then($0).perform(isPatient: false, ledger, reply, give) }
        case .look(let look):
            if isPatient {
                return Wish(looking: look).perform(isPatient: true, ledger, reply, give)
            }
            reply.whenPatient { Wish(looking: look).perform(isPatient: true, ledger, reply, give) }
        }
    }
}

extension Reaction {
    /// The reaction that results from the work.
    init(after work: () throws(Problem) -> Reaction) {
        do throws(Problem) {
            self = try work()
        } catch {
            self = .answered(.failure(error))
        }
    }

    /// Performs the reaction in the same way as a wish.
    func perform(
        isPatient: Bool, _ ledger: any EventLog, _ reply: LateReply, _ give: @escaping Give
    ) {
        switch self {
        case .answered(let result): give(result)
        case .asking(let begin): begin(give)
        case .writing(let wish): wish.perform(isPatient: isPatient, ledger, reply, give)
        case .waiting(let work):
            if isPatient {
                return Reaction(after: work).perform(isPatient: true, ledger, reply, give)
            }
            reply.whenPatient {
                Reaction(after: work).perform(isPatient: true, ledger, reply, give)
            }
        }
    }
}
