import Core
package import HTTPServer
import Service
import Threading

extension Router {
    /// What becomes of a request's body, by its head: it is kept only for those who may make the call.
    package func admit(_ request: borrowing Request) -> Admission {
        let started = monotonicMicroseconds()
        let found: MeasuredRoute
        do throws(Problem) {
            found = try find(request).route
        } catch {
            return .refused(unrouted.record(error.response, since: started))
        }
        do throws(Problem) {
            return try admit(request, to: found, since: started)
        } catch {
            return .refused(found.measures.record(error.response, since: started))
        }
    }

    private func admit(
        _ request: borrowing Request, to found: MeasuredRoute, since started: Int64
    ) throws(Problem) -> Admission {
        let limit = found.route.bodyLimit
        guard let roles = found.route.roles else {
            return .body(limit: limit, .strangers)
        }
        switch try PresentedKey(request, keys) {
        case .known(let used):
            _ = try Route.Access(used.key, roles)
            return .body(limit: limit, .known)
        case .other(let digest):
            let client = request.client
            try failedKeys.requirePatience(with: client)
            return .asking { [keys, failedKeys] in
                do throws(Problem) {
                    guard let live = try obtain({ () throws(Fault) in try keys.find(digest) })
                    else {
                        failedKeys.note(from: client)
                        throw .unknownKey
                    }
                    _ = try Route.Access(live, roles)
                    return .body(limit: limit, .known)
                } catch {
                    return .refused(found.measures.record(error.response, since: started))
                }
            }
        }
    }

    private func obtain<Found>(_ find: () throws(Fault) -> Found) throws(Problem) -> Found {
        do throws(Fault) {
            return try find()
        } catch {
            throw Problem(error)
        }
    }
}
