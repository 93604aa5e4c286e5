import Core
import HTTPServer
import Service
import Threading

typealias Give = @Sendable (Result<Response, Problem>) -> Void

/// How a call continues.
enum Reaction: Sendable {
    case answered(Result<Response, Problem>)
    /// Another thread gives the answer later.
    case asking(_ begin: @Sendable (_ give: @escaping Give) -> Void)
    /// A worker determines the next reaction and may block.
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
    /// Returns a wish. `render` converts its answer into a response.
    func response(_ render: @escaping @Sendable (Answer) -> Response) -> Wish<Response> {
        then { .answered($0.map(render)) }
    }
}

extension Wish<Response> {
    /// Fulfils the wish. `give` receives the answer on the thread that completes the last step. `isPatient` says
    /// whether the calling thread may block; if not, a step that looks something up continues on another thread.
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
        case .ask(let course):
            course.carryOut(isPatient: isPatient, whenPatient: { reply.whenPatient($0) }) {
                $0.perform(isPatient: $1, ledger, reply, give)
            }
        }
    }
}

extension Reaction {
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
