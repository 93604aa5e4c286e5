package import HTTPServer
import Threading

extension Router {
    /// Decides from a request's head whether to receive its body. Only a caller who may make the
    /// call may send one.
    package func admit(_ request: borrowing Request) -> Admission {
        let started = monotonicMicroseconds()
        let found: ServedRoute
        do throws(Problem) {
            found = try find(request).route
        } catch {
            return .refused(
                unrouted.record(surfaces.refusal(error, at: request.path), since: started))
        }
        do throws(Problem) {
            return try admit(request, to: found, since: started)
        } catch {
            return .refused(found.end(.failure(error), since: started))
        }
    }

    private func admit(
        _ request: borrowing Request, to found: ServedRoute, since started: Int64
    ) throws(Problem) -> Admission {
        let limit = found.route.bodyLimit
        guard let roles = found.route.roles else { return .body(limit: limit, .strangers) }
        let key = try found.door.key(of: request)
        if let known = key.known {
            _ = try Route.Access(known, roles, by: found.door.ring)
            return .body(limit: limit, .known)
        }
        let client = request.client
        try failedKeys.requirePatience(with: client)
        return .asking { [failedKeys] in
            do throws(Problem) {
                let live = try found.door.find(key, failedKeys, from: client)
                _ = try Route.Access(live, roles, by: found.door.ring)
                return .body(limit: limit, .known)
            } catch {
                return .refused(found.end(.failure(error), since: started))
            }
        }
    }
}
