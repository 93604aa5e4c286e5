import Core
import HTTPServer
import JSON
import Service

extension ServedRoute {
    /// Returns the reaction to a call with a key. Records the refusal of a call if the key belongs to a person.
    func react(
        to draft: CallDraft, by key: LiveKey, _ roles: [Role], _ work: Route.Work
    ) throws(Problem) -> Reaction {
        let ring = door.ring
        if !ring.refusals.keeps(key) {
            return try work(try Call(draft, try Route.Access(key, roles, by: ring)))
        }
        let see = { @Sendable (problem: Problem) in
            guard (400..<500).contains(problem.status) else { return }
            ring.refusals.note(key, self.name, status: problem.status, code: problem.code) {
                $0.complete(from: draft, self.route.pattern)
            }
        }
        do throws(Problem) {
            let access = try Route.Access(key, roles, by: ring)
            return try work(try Call(draft, access)).watched(see)
        } catch {
            see(error)
            throw error
        }
    }
}

extension Reaction {
    /// Returns the same reaction. `see` also receives the problem of a refused call.
    fileprivate func watched(_ see: @escaping @Sendable (Problem) -> Void) -> Reaction {
        switch self {
        case .answered(.failure(let problem)):
            see(problem)
            return self
        case .answered: return self
        case .asking(let begin):
            return .asking { give in
                begin { result in
                    if case .failure(let problem) = result { see(problem) }
                    give(result)
                }
            }
        case .waiting(let work):
            return .waiting { () throws(Problem) in
                do throws(Problem) {
                    return try work().watched(see)
                } catch {
                    see(error)
                    throw error
                }
            }
        case .writing(let wish):
            return .writing(
                wish.then { result -> Wish<Response> in
                    if case .failure(let error) = result { see(Problem(error)) }
                    return .answered(result)
                })
        }
    }
}

extension RefusedCall {
    /// Fills in the subject of the call from its parts, as far as they are well-formed.
    mutating func complete(from draft: CallDraft, _ pattern: String) {
        if pattern.hasPrefix("/customers/{customer}"), let customer = draft.arguments?.first {
            self.customer = try? CustomerID(customer)
        }
        let query = try? QueryParameters(draft.query, of: draft.parameters)
        let body = draft.body.count <= Router.bodyLimit ? try? JSON.read(draft.body) : nil
        func text(_ name: String) -> String? { body?[name]?.string ?? query?[name] }
        environment = text("environment").flatMap(Environment.init(rawValue:))
        reason = text("reason").flatMap { try? Reason($0) }
        ticket = text("ticket").flatMap { try? Ticket($0) }
    }
}
